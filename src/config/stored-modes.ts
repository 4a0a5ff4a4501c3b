// What can be done to the modes that are stored: pure changes of the stored configuration, to be given to `ProfileFile.update`.
import { ParleyError } from '../service/errors.ts';
import { builtInModes, type ModeBook, type ModeSettings } from '../service/mode-settings.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import { checkRoom, ModeFault, modeFailure, readMode, readModeBook, storedMode } from './mode-settings.ts';
import type { StoredConfig } from './stored-config.ts';

const names = { modes: 'modes', default: 'default_mode' };

/** `CONFIG` for modes that a hand has broken; `path` is the file. */
export function storedModeBook(config: StoredConfig, path: string): ModeBook {
  try {
    return readModeBook(config, names);
  } catch (error) {
    throw error instanceof ModeFault ? modeFailure(error, 'CONFIG', path) : error;
  }
}

/** Keeps the mode, in place of one of that name; `USAGE` for settings against a rule. */
export function putMode(config: StoredConfig, settings: ModeSettings): StoredConfig {
  const { name, ...fields } = settings;
  try {
    const checked = readMode(name, fields, []);
    checkRoom(checked, []);
    const mode = storedMode(checked);
    // A computed name in an object literal is defined, not assigned: `__proto__` is a field like any other.
    const changed = { ...config, modes: { ...config.modes, [name]: mode } };
    readModeBook(changed, names);
    return changed;
  } catch (error) {
    throw error instanceof ModeFault ? modeFailure(error, 'USAGE', null) : error;
  }
}

/** `UNKNOWN_MODE` for one that there is not; `USAGE` for one that is built in, or that another falls back to. */
export function removeMode(config: StoredConfig, name: string): StoredConfig {
  if (builtInModes.includes(name)) throw new ParleyError('USAGE', `The mode ${name} is built in.`);
  requireMode(config, name);
  const others = Object.entries(config.modes).filter(([other]) => other !== name);
  const user = others.find(([, mode]) => (mode as { fallback?: unknown }).fallback === name);
  if (user !== undefined) {
    throw new ParleyError('USAGE', `The mode ${user[0]} falls back to ${name}.`, {
      hint: `Give it another first: parley modes set ${user[0]} --fallback ""`,
    });
  }
  return {
    ...config,
    modes: Object.fromEntries(others),
    default_mode: config.default_mode === name ? null : config.default_mode,
  };
}

/** The mode that is used when none is named; null for the built-in one. */
export function setDefaultMode(config: StoredConfig, name: string | null): StoredConfig {
  if (name !== null && !builtInModes.includes(name)) requireMode(config, name);
  return { ...config, default_mode: name };
}

function requireMode(config: StoredConfig, name: string): void {
  if (Object.hasOwn(config.modes, name)) return;
  throw unknownMode(name, [...Object.keys(config.modes), ...builtInModes]);
}
