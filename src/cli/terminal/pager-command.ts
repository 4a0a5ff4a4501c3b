// Chooses the pager for long output, if any, and its environment.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Output } from './output.ts';
import type { Environment } from './style.ts';

/** `F`: leave if the text fits on one screen; `R`: show colours; `X`: leave the text on the screen. */
const lessDefaults = 'FRX';

/** Variables that a pager does not get. */
const secrets: readonly string[] = ['PARLEY_API_KEY', 'PARLEY_STORE'];

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

/** The environment of the pager. */
export function pagerEnvironment(env: Environment): Environment {
  const others = Object.entries(env).filter(([name]) => !secrets.includes(name));
  return { LESS: lessDefaults, LV: '-c', ...Object.fromEntries(others) };
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
