// Checks the modes of one source, each by itself and together with the others. The caller handles the faults: a file for `serve --modes` is
// refused as a whole, but the stored configuration loses only the faulty mode.
import { builtInModes, type ModeConfig, type ModeSettings } from '../service/mode-settings.ts';
import { quoted } from '../service/quoted.ts';
import { type Fields, fieldsOf, ModeFault, readMode } from './mode-validation.ts';

/** Called with each fault and the mode that is omitted because of it. It throws to refuse the whole source. */
export type Refuse = (fault: ModeFault, mode: string) => void;

/** Also checks the fallbacks. A default that does not exist is a fault of a mode with that name. */
export function readModeConfig(
  value: unknown,
  names: { modes: string; default: string },
  refuse: Refuse,
): Omit<ModeConfig, 'faulty'> {
  const fields = fieldsOf(value, []);
  const stored = fieldsOf(fields[names.modes] ?? {}, [names.modes]);
  const known = [...builtInModes, ...Object.keys(stored)];
  const orRefuse = <T>(name: string, read: () => T): T | null => {
    try {
      return read();
    } catch (fault) {
      if (!(fault instanceof ModeFault)) throw fault;
      refuse(fault, name);
      return null;
    }
  };
  const valid = Object.entries(stored).flatMap(
    ([name, mode]) => orRefuse(name, () => readMode(name, mode, [names.modes, name])) ?? [],
  );
  const modes = valid.filter((mode) =>
    orRefuse(mode.name, () => checkFallback(mode, valid, known, [names.modes, mode.name, 'fallback'])),
  );
  const defaultMode = orRefuse(String(fields[names.default]), () =>
    readDefault(fields, names.default, known),
  );
  return { modes, default: defaultMode ?? textOrNull(fields[names.default]) };
}

function checkFallback(
  { name, fallback }: ModeSettings,
  modes: readonly ModeSettings[],
  known: readonly string[],
  path: readonly string[],
): true {
  if (fallback === null) return true;
  if (!known.includes(fallback)) throw new ModeFault(path, `is not a mode: ${quoted(fallback)}`);
  if (leadsTo(modes, fallback, name)) throw new ModeFault(path, 'leads back to the mode itself');
  return true;
}

function readDefault(fields: Fields, field: string, known: readonly string[]): string | null {
  const name = fields[field] ?? null;
  if (name === null || (typeof name === 'string' && known.includes(name))) return name;
  throw new ModeFault([field], 'is not a mode', '', { kind: 'choose_default_mode' });
}

function leadsTo(modes: readonly ModeSettings[], from: string, to: string): boolean {
  const seen = new Set<string>();
  for (let name: string | null = from; name !== null && !seen.has(name); ) {
    if (name === to) return true;
    seen.add(name);
    name = modes.find((mode) => mode.name === name)?.fallback ?? null;
  }
  return false;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
