// The place that stores the modes: the configuration file of this machine, or a store that all its servers share.
import type { ProfileFile } from './profile-file.ts';
import type { StoredModes } from './stored-config.ts';

export interface ModePlace {
  /** The path of the file, or the store without user and password. */
  readonly name: string;
  read(): Promise<StoredModes>;
  /**
   * Applies a change to the stored modes. If somebody else changes them first, it applies the change again to the newer modes. If the change
   * throws, nothing is stored. The change is durable when the promise resolves.
   */
  update(change: (modes: StoredModes) => StoredModes): Promise<void>;
  close(): Promise<void>;
}

export function modesInFile(file: Pick<ProfileFile, 'path' | 'read' | 'update'>): ModePlace {
  return {
    name: file.path,
    read: async () => file.read(),
    async update(change) {
      await file.update((config) => ({ ...config, ...change(config) }));
    },
    close: async () => {},
  };
}
