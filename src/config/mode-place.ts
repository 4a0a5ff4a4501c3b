// Where modes are kept: in the configuration file of this machine, or in a store that all its servers share.
import type { ProfileFile } from './profile-file.ts';
import type { StoredModes } from './stored-config.ts';

export interface ModePlace {
  /** The path of the file, or the store without user and password. */
  readonly name: string;
  read(): Promise<StoredModes>;
  /**
   * Applies a change to the modes that are kept now. It is applied again to newer ones where somebody else was first. What it throws leaves
   * everything as it was. The change is durable when the promise resolves.
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
