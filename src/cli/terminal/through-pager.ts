// Decides whether output goes through a pager, and through which. The code of the pager is loaded only if it does.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Output } from './output.ts';
import type { PagedContext } from './pager.ts';
import type { Environment } from './style.ts';

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

/** Returns the command of the pager. Null if there is none: an empty variable, or `cat`, turns the pager off. */
export function pagerCommand(
  { redraws }: Pick<Output, 'redraws'>,
  { input, json }: { readonly input: boolean; readonly json: boolean },
  env: Environment,
): string | null {
  // A pager waits for keys, so there is none with --no-input, with TERM=dumb, or in CI.
  if (!redraws || !input || json) return null;
  const command = (env['PARLEY_PAGER'] ?? env['PAGER'] ?? 'less').trim();
  if (command === '' || command === 'cat') return null;
  const [program = ''] = command.split(/\s/);
  // A command with quotes or variables is left to the shell.
  return /[^\w./+-]/.test(program) || isProgram(program, env) ? command : null;
}

function isProgram(program: string, { PATH = '' }: Environment): boolean {
  const places = program.includes('/')
    ? [program]
    : PATH.split(delimiter).map((folder) => join(folder, program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
