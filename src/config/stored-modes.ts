// Pure functions that read and change stored modes. mode-place.ts stores the results.
import { isDeepStrictEqual } from 'node:util';
import { ParleyError } from '../service/errors.ts';
import {
  builtInModes,
  type FaultyMode,
  type ModeConfig,
  type ModeSettings,
} from '../service/mode-settings.ts';
import { quoted } from '../service/quoted.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import { readModeConfig } from './mode-config.ts';
import {
  checkSystemPromptFits,
  isModeName,
  ModeFault,
  modeFailure,
  readMode,
  storedMode,
} from './mode-validation.ts';
import type { StoredModes } from './stored-config.ts';

const names = { modes: 'modes', default: 'default_mode' };

/** Reads the stored modes. A mode with invalid settings is returned as faulty. `place` is the file or the store that its failure names. */
export function storedModeConfig(config: StoredModes, place: string): ModeConfig {
  const faulty: FaultyMode[] = [];
  const modeConfig = readModeConfig(config, names, (fault, name) => {
    const failure = modeFailure(fault, 'CONFIG', place);
    const isStored = Object.hasOwn(config.modes, name);
    const mode = isModeName(name) ? name : quoted(name);
    faulty.push({
      name,
      failure: isStored ? failure.with({ remedy: { kind: 'mend_mode', mode } }) : failure,
    });
  });
  return { ...modeConfig, faulty };
}

/** The stored fields of a mode, unchecked. */
export function storedFields(config: StoredModes, name: string): Readonly<Record<string, unknown>> | null {
  const mode = Object.hasOwn(config.modes, name) ? config.modes[name] : null;
  return typeof mode === 'object' && mode !== null ? { ...mode } : null;
}

/**
 * Adds or replaces a mode. A mode that is replaced must still have the fields that were `seen`. Throws `USAGE` for invalid settings, and for
 * a mode that somebody else has added, changed or removed since.
 */
export function putMode(
  config: StoredModes,
  settings: ModeSettings,
  seen: Readonly<Record<string, unknown>> | null,
): StoredModes {
  const { name, ...fields } = settings;
  try {
    const checked = readMode(name, fields, []);
    checkSystemPromptFits(checked, []);
    const mode = storedMode(checked);
    const current = storedFields(config, name);
    if (!isDeepStrictEqual(current, seen) && !isDeepStrictEqual(current, mode)) throw changedMeanwhile(name);
    // A computed name in an object literal is defined, not assigned, so that `__proto__` is a field like any other.
    const changed = { ...config, modes: { ...config.modes, [name]: mode } };
    // The faults of other modes do not matter here.
    readModeConfig(changed, names, (fault, other) => {
      if (other === name && fault.path[0] === names.modes) throw fault;
    });
    return changed;
  } catch (error) {
    throw error instanceof ModeFault ? modeFailure(error, 'USAGE', null) : error;
  }
}

/** Throws `UNKNOWN_MODE` for a mode that does not exist, and `USAGE` for a built-in mode or the fallback of another mode. */
export function removeMode(config: StoredModes, name: string): StoredModes {
  if (builtInModes.includes(name) && !Object.hasOwn(config.modes, name))
    throw new ParleyError('USAGE', `The mode ${name} is built in and cannot be removed.`, {
      hint: 'Only modes that were added can be removed.',
    });
  requireMode(config, name);
  const others = Object.entries(config.modes).filter(([other]) => other !== name);
  const [dependent] =
    others.find(([, mode]) => (mode as { fallback?: unknown } | null)?.fallback === name) ?? [];
  if (dependent !== undefined) {
    throw new ParleyError('USAGE', `The mode ${dependent} falls back to ${name}.`, {
      remedy: { kind: 'change_fallback', mode: dependent },
    });
  }
  return {
    ...config,
    modes: Object.fromEntries(others),
    default_mode: config.default_mode === name ? null : config.default_mode,
  };
}

/** Sets the mode that is used if none is named. Throws `UNKNOWN_MODE` for a mode that does not exist. */
export function setDefaultMode(config: StoredModes, name: string): StoredModes {
  if (!builtInModes.includes(name)) requireMode(config, name);
  return { ...config, default_mode: name };
}

function changedMeanwhile(name: string): ParleyError {
  return new ParleyError('USAGE', `The mode ${name} was changed by somebody else at the same time.`, {
    remedy: { kind: 'look_at_mode', mode: name },
  });
}

function requireMode(config: StoredModes, name: string): void {
  if (Object.hasOwn(config.modes, name)) return;
  throw unknownMode(name, [...Object.keys(config.modes), ...builtInModes]);
}
