// Decides whether output goes through a pager. The pager's own code is loaded only for one: a list in a pipe starts without it.
import type { Output } from './output.ts';
import type { PagedContext } from './pager.ts';
import { pagerCommand } from './pager-command.ts';

/** Writes to the terminal, or through the pager if the text is longer than the screen. Resolves when the person has left the pager. */
export async function throughPager(
  context: PagedContext,
  write: (output: Output) => Promise<void>,
): Promise<void> {
  const { stdout, options, host } = context;
  const command = pagerCommand(stdout, options, host.env);
  if (command === null) return write(stdout);
  const { PagedOutput } = await import('./pager.ts');
  const paged = new PagedOutput(command, context);
  try {
    await write(paged);
    await paged.end();
  } finally {
    await paged.close();
  }
}
