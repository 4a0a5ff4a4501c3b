// The mode of a chat: the one named by an option, a variable or the profile; else the service's default; else its only mode.
import { resolveMode } from '../config/settings.ts';
import { hasCode, ParleyError } from '../service/errors.ts';
import type { Mode } from '../service/mode.ts';
import { quoted } from '../service/quoted.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import type { CliContext, ServiceAccess } from './context.ts';

/** `option` is what a user types to name a mode. */
export async function chooseMode(
  flag: string | null,
  context: CliContext,
  option = '--mode',
): Promise<string> {
  const named = resolveMode(flag, context.host.env, context.target);
  if (named !== null) return named.mode;
  const modes = await listModes(context);
  const chosen = defaultModeOf(modes);
  if (chosen !== null) return chosen;
  throw new ParleyError('USAGE', 'No mode was given, and the service has no default.', {
    hint: `Choose one with ${option}: ${modes.map(({ name }) => name).join(', ')}.`,
  });
}

/** The failure of a turn. If the session's mode no longer exists, the failure names both. `option` is what a user types to name a mode. */
export function withModeOfSession(
  error: unknown,
  { mode, sessionId }: { readonly mode: string; readonly sessionId: string },
  option: string,
): unknown {
  if (!hasCode(error, 'UNKNOWN_MODE')) return error;
  const message = `Session ${sessionId} uses the mode ${quoted(mode)}, which no longer exists.`;
  return error.with({ message, hint: `Continue in another mode with ${option}. ${error.hint}` });
}

/** Throws `UNKNOWN_MODE` if the service does not list the mode. Call it before anything is created for a chat in that mode. */
export async function requireMode(mode: string, context: ServiceAccess): Promise<void> {
  const names = (await listModes(context)).map(({ name }) => name);
  if (names.includes(mode)) return;
  throw unknownMode(mode, names);
}

/**
 * Throws `UNKNOWN_MODE` for a turn that would be refused for its mode. Such a turn must leave no copy and no other settings of its session. A
 * server that lists no modes refuses the mode later.
 */
export async function refuseUnknownMode(mode: string, context: ServiceAccess): Promise<void> {
  try {
    await requireMode(mode, context);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code === 'UNKNOWN_MODE') throw error;
  }
}

/** The name of the default mode, or else of the only mode; null if there is neither. */
export function defaultModeOf(modes: readonly Mode[]): string | null {
  const chosen = modes.find((mode) => mode.default) ?? (modes.length === 1 ? modes[0] : undefined);
  return chosen?.name ?? null;
}

export async function listModes(context: ServiceAccess): Promise<readonly Mode[]> {
  const { backend } = await context.open();
  return (await backend.service.models(await context.call())).data;
}
