// The modes in a store: as a source for a service that uses them, and as a place for commands that change them.
import { randomUUID } from 'node:crypto';
import type { ModePlace } from '../config/mode-place.ts';
import type { StoredModes } from '../config/stored-config.ts';
import { ParleyError } from '../service/errors.ts';
import type { ModeSet, ModeStore } from '../store/mode-store.ts';
import type { OpenedModes } from '../store/postgres/open.ts';
import { type ModeSource, modeConfigOf } from './mode-source.ts';

/** `name`: the store without user and password. */
export function modesOfStore({ first, read, follow }: OpenedModes, name: string): ModeSource {
  let current = first;
  return {
    read: () => modeConfigOf(storedModesOf(current), name),
    async refresh() {
      const before = current.version;
      current = await read();
      return current.version !== before;
    },
    follow: (listener) =>
      follow((modes) => {
        current = modes;
        listener();
      }),
  };
}

/** The number of attempts for a change. An attempt fails only if another change was made at the same moment. */
const maxTries = 20;

export function modesInStore(store: ModeStore, name: string): ModePlace {
  return {
    name,
    read: async () => storedModesOf(await store.read()),
    async update(change) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const before = await store.read();
        const after = change(storedModesOf(before));
        if (await store.replace(before.version, { version: randomUUID(), ...modeSetOf(after) })) return;
      }
      throw new ParleyError('STORE_BUSY', `The modes of the store ${name} keep changing.`, {
        hint: 'Nothing was changed. Try again.',
      });
    },
    close: () => store.close(),
  };
}

function storedModesOf({ modes, default_mode }: ModeSet): StoredModes {
  return {
    modes: Object.fromEntries(modes.map(({ name, settings }) => [name, parseSettings(settings)])),
    default_mode,
  };
}

function modeSetOf({ modes, default_mode }: StoredModes): Omit<ModeSet, 'version'> {
  return {
    modes: Object.entries(modes).map(([name, settings]) => ({ name, settings: JSON.stringify(settings) })),
    default_mode,
  };
}

/** The settings of a mode. A text that is not JSON is returned unchanged and makes a faulty mode, which does not affect the others. */
function parseSettings(settings: string): unknown {
  try {
    return JSON.parse(settings);
  } catch {
    return settings;
  }
}
