// The mode of a chat: the one that an option, a variable or the profile names, else the service's default, else its only one.
import { resolveMode } from '../config/settings.ts';
import { ParleyError } from '../service/errors.ts';
import type { Mode } from '../service/mode.ts';
import { quoted } from '../service/quoted.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import type { CliContext, ServiceAccess } from './context.ts';

/** `how` says how a mode is named here. */
export async function chooseMode(flag: string | null, context: CliContext, how = '--mode'): Promise<string> {
  const named = resolveMode(flag, context.host.env, context.target);
  if (named !== null) return named.mode;
  const modes = await listModes(context);
  const chosen = modes.find((mode) => mode.default) ?? (modes.length === 1 ? modes[0] : undefined);
  if (chosen !== undefined) return chosen.name;
  throw new ParleyError('USAGE', 'No mode was named, and the service has no default.', {
    hint: `Name one with ${how}: ${modes.map(({ name }) => name).join(', ')}.`,
  });
}

/** The failure of a turn, which tells the session and its mode if that mode is not there any more. `how` says how a mode is named here. */
export function withModeOfSession(
  error: unknown,
  { mode, sessionId }: { readonly mode: string; readonly sessionId: string },
  how: string,
): unknown {
  if (!(error instanceof ParleyError) || error.code !== 'UNKNOWN_MODE') return error;
  const message = `Session ${sessionId} is in the mode ${quoted(mode)}, which is not there any more.`;
  return error.with({ message, hint: `Go on in another with ${how}. ${error.hint}` });
}

/** Throws `UNKNOWN_MODE` if the service does not list the mode. Call it before anything is made for a chat in that mode. */
export async function requireMode(mode: string, context: ServiceAccess): Promise<void> {
  const names = (await listModes(context)).map(({ name }) => name);
  if (names.includes(mode)) return;
  throw unknownMode(mode, names);
}

async function listModes(context: ServiceAccess): Promise<readonly Mode[]> {
  const { backend } = await context.open();
  return (await backend.service.models(await context.call())).data;
}
