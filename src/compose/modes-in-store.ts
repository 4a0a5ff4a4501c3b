// The modes that a store keeps, as those who answer with them and those who set them up need them.
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
    async look() {
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

/** Each failed try means that another change was made, so nobody waits for ever. */
const mostTries = 20;

export function modesInStore(store: ModeStore, name: string): ModePlace {
  return {
    name,
    read: async () => storedModesOf(await store.read()),
    async update(change) {
      for (let tries = 0; tries < mostTries; tries += 1) {
        const before = await store.read();
        const after = change(storedModesOf(before));
        if (await store.replace(before.version, { version: randomUUID(), ...modeSetOf(after) })) return;
      }
      throw new ParleyError('STORE_BUSY', `The modes of the store ${name} are changed all the time.`, {
        hint: 'Nothing was changed. Try again.',
      });
    },
    close: () => store.close(),
  };
}

function storedModesOf({ modes, default_mode }: ModeSet): StoredModes {
  return {
    modes: Object.fromEntries(modes.map(({ name, settings }) => [name, parsed(settings)])),
    default_mode,
  };
}

function modeSetOf({ modes, default_mode }: StoredModes): Omit<ModeSet, 'version'> {
  return {
    modes: Object.entries(modes).map(([name, settings]) => ({ name, settings: JSON.stringify(settings) })),
    default_mode,
  };
}

/** A text that is no JSON makes a faulty mode, which stands in nobody's way. */
function parsed(settings: string): unknown {
  try {
    return JSON.parse(settings);
  } catch {
    return settings;
  }
}
