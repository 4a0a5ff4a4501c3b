// Decides whether output goes through a pager. The code of the pager is loaded only if it does.
import type { Output } from './output.ts';
import type { PagedContext } from './pager.ts';
import { pagerCommand } from './pager-command.ts';

/** Writes to the terminal, or through the pager if the text is longer than the screen. Resolves when the user has left the pager. */
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
