// Reads, checks and changes the modes of one place, for the commands that set up modes. A change is stored when its promise resolves.
import {
  allModes,
  builtInModes,
  type ModeConfig,
  type ModeRecord,
  type ModeSettings,
} from '../service/mode-settings.ts';
import type { ModePlace } from './mode-place.ts';
import type { StoredModes } from './stored-config.ts';
import { putMode, removeMode, setDefaultMode, storedFields, storedModeConfig } from './stored-modes.ts';

/** The modes of a place as they were at one moment. */
export class SeenModes {
  readonly #stored: StoredModes;
  readonly #modeConfig: ModeConfig;

  constructor(stored: StoredModes, place: string) {
    this.#stored = stored;
    this.#modeConfig = storedModeConfig(stored, place);
  }

  /** The modes in the order of the models listing. */
  list(): readonly ModeRecord[] {
    const { modes, faulty } = this.#modeConfig;
    const settings = new Map(modes.map((mode) => [mode.name, mode]));
    const problems = new Map(faulty.map(({ name, failure }) => [name, failure.message]));
    return allModes(this.#modeConfig).map((mode) => ({
      ...mode,
      settings: settings.get(mode.name) ?? null,
      problem: builtInModes.includes(mode.name) ? null : (problems.get(mode.name) ?? null),
    }));
  }

  /** Null for a mode without settings. Throws `CONFIG` for a faulty mode, with its fault and its remedy. */
  settings(name: string): ModeSettings | null {
    const { modes, faulty } = this.#modeConfig;
    const fault = builtInModes.includes(name) ? undefined : faulty.find((mode) => mode.name === name);
    if (fault !== undefined) throw fault.failure;
    return modes.find((mode) => mode.name === name) ?? null;
  }

  /** The stored fields of a mode, faulty or not, unchecked; null for a mode that is not stored. */
  stored(name: string): Readonly<Record<string, unknown>> | null {
    return storedFields(this.#stored, name);
  }

  /** The default that the user chose. Null if none was chosen: the first offline mode is then the default. */
  get chosenDefault(): string | null {
    return this.#modeConfig.default;
  }
}

export class ModeRepository {
  readonly #place: ModePlace;

  constructor(place: ModePlace) {
    this.#place = place;
  }

  async read(): Promise<SeenModes> {
    return new SeenModes(await this.#place.read(), this.#place.name);
  }

  /**
   * Adds or replaces a mode. Rejects with `USAGE` for invalid settings (the failure names the field), and for a mode that was changed since it
   * was seen.
   */
  put(settings: ModeSettings, seen: SeenModes): Promise<void> {
    return this.#place.update((modes) => putMode(modes, settings, seen.stored(settings.name)));
  }

  /** Rejects with `UNKNOWN_MODE` for a mode that does not exist, and with `USAGE` for a built-in mode or the fallback of another mode. */
  remove(name: string): Promise<void> {
    return this.#place.update((modes) => removeMode(modes, name));
  }

  /** Sets the mode that is used if none is named. Rejects with `UNKNOWN_MODE` for a mode that does not exist. */
  setDefault(name: string): Promise<void> {
    return this.#place.update((modes) => setDefaultMode(modes, name));
  }
}
