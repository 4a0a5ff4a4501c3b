// The modes of an embedded service, as they were read last: those of this machine's configuration, or those of a store.
import type { ProfileFile } from '../config/profile-file.ts';
import type { StoredConfig, StoredModes } from '../config/stored-config.ts';
import type { ModeConfig } from '../service/mode-settings.ts';

export interface ModeSource {
  /** The modes that were read last; null if none are set up. */
  read(): Promise<ModeConfig | null>;
  /** Reads the modes again. True if they have changed. */
  refresh(): Promise<boolean>;
  /** Calls the listener when the modes have changed, without a call of `refresh`. Null if this source does not report changes. */
  readonly follow: ((listener: () => void) => void) | null;
}

/** The modes of this machine's configuration. `config` is the configuration that was read last. */
export function modesOfMachine(
  profileFile: Pick<ProfileFile, 'path' | 'read'>,
  config: StoredConfig,
): ModeSource {
  let current: StoredModes = config;
  const textOf = ({ modes, default_mode }: StoredModes) => JSON.stringify({ modes, default_mode });
  return {
    read: () => modeConfigOf(current, profileFile.path),
    async refresh() {
      const before = textOf(current);
      current = profileFile.read();
      return textOf(current) !== before;
    },
    follow: null,
  };
}

/** The modes that are set up; null if there are none. `place` is the file or the store that a fault names. */
export async function modeConfigOf(stored: StoredModes, place: string): Promise<ModeConfig | null> {
  if (Object.keys(stored.modes).length === 0 && stored.default_mode === null) return null;
  const { storedModeConfig } = await import('../config/stored-modes.ts');
  return storedModeConfig(stored, place);
}
