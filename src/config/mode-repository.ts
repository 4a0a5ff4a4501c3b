// The modes of this machine's configuration: read, checked and changed in the file of the profiles. A change holds when it resolves.
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
    const book = this.#read();
    const settings = new Map(book.modes.map((mode) => [mode.name, mode]));
    const problems = new Map(book.faulty.map(({ name, failure }) => [name, failure.message]));
    return allModes(book).map((mode) => ({
      ...mode,
      settings: settings.get(mode.name) ?? null,
      problem: builtInModes.includes(mode.name) ? null : (problems.get(mode.name) ?? null),
    }));
  }

  /** Null for a mode that has none. `CONFIG` for a faulty one: what is wrong, and how to mend it. */
  settings(name: string): ModeSettings | null {
    const { modes, faulty } = this.#read();
    const fault = builtInModes.includes(name) ? undefined : faulty.find((mode) => mode.name === name);
    if (fault !== undefined) throw fault.failure;
    return modes.find((mode) => mode.name === name) ?? null;
  }

  /** What is kept of a mode, faulty or not, unchecked; null for one of which nothing is kept. */
  stored(name: string): Readonly<Record<string, unknown>> | null {
    return storedFields(this.#file.read(), name);
  }

  /** The default that was chosen; null where nobody has chosen, and the first offline mode is used. */
  chosenDefault(): string | null {
    return this.#read().default;
  }

  /** Keeps a mode, in place of one of that name. `USAGE` for settings against a rule; it names the field. */
  async put(settings: ModeSettings): Promise<void> {
    await this.#file.update((config) => putMode(config, settings));
  }

  /** `UNKNOWN_MODE` for one that there is not; `USAGE` for one that is built in, or that another falls back to. */
  async remove(name: string): Promise<void> {
    await this.#file.update((config) => removeMode(config, name));
  }

  /** The mode that is used when none is named. `UNKNOWN_MODE` for one that there is not. */
  async setDefault(name: string): Promise<void> {
    await this.#file.update((config) => setDefaultMode(config, name));
  }

  #read(): ModeConfig {
    return storedModeConfig(this.#file.read(), this.#file.path);
  }
}
