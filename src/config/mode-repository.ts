// The modes of this machine's configuration: reads, checks and changes them in the configuration file. A change is stored when its promise
// resolves.
import {
  allModes,
  builtInModes,
  type ModeConfig,
  type ModeRecord,
  type ModeSettings,
} from '../service/mode-settings.ts';
import type { ProfileFile } from './profile-file.ts';
import { putMode, removeMode, setDefaultMode, storedFields, storedModeConfig } from './stored-modes.ts';

export class ModeRepository {
  readonly #file: Pick<ProfileFile, 'path' | 'read' | 'update'>;

  constructor(file: Pick<ProfileFile, 'path' | 'read' | 'update'>) {
    this.#file = file;
  }

  /** In the order of the models listing. */
  list(): readonly ModeRecord[] {
    const modeConfig = this.#read();
    const settings = new Map(modeConfig.modes.map((mode) => [mode.name, mode]));
    const problems = new Map(modeConfig.faulty.map(({ name, failure }) => [name, failure.message]));
    return allModes(modeConfig).map((mode) => ({
      ...mode,
      settings: settings.get(mode.name) ?? null,
      problem: builtInModes.includes(mode.name) ? null : (problems.get(mode.name) ?? null),
    }));
  }

  /** Null for a mode without settings. Throws `CONFIG` for a faulty mode, with its fault and its remedy. */
  settings(name: string): ModeSettings | null {
    const { modes, faulty } = this.#read();
    const fault = builtInModes.includes(name) ? undefined : faulty.find((mode) => mode.name === name);
    if (fault !== undefined) throw fault.failure;
    return modes.find((mode) => mode.name === name) ?? null;
  }

  /** The stored fields of a mode, faulty or not, unchecked; null for a mode that is not stored. */
  stored(name: string): Readonly<Record<string, unknown>> | null {
    return storedFields(this.#file.read(), name);
  }

  /** The default that the user has chosen; null if none was chosen, and the first offline mode is the default. */
  chosenDefault(): string | null {
    return this.#read().default;
  }

  /** Stores a mode, in place of one with that name. Rejects with `USAGE`, which names the field, for settings against a rule. */
  async put(settings: ModeSettings): Promise<void> {
    await this.#file.update((config) => putMode(config, settings));
  }

  /** Rejects with `UNKNOWN_MODE` for a mode that does not exist, and with `USAGE` for a built-in mode and for the fallback of another. */
  async remove(name: string): Promise<void> {
    await this.#file.update((config) => removeMode(config, name));
  }

  /** Sets the mode that is used when none is named. Rejects with `UNKNOWN_MODE` for a mode that does not exist. */
  async setDefault(name: string): Promise<void> {
    await this.#file.update((config) => setDefaultMode(config, name));
  }

  #read(): ModeConfig {
    return storedModeConfig(this.#file.read(), this.#file.path);
  }
}
