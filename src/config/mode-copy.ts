// Copies the modes of one place to another. Nothing that is there is changed: whoever copies a store must not change what answers already.

import { isDeepStrictEqual } from 'node:util';
import type { CopiedModes } from '../service/administration.ts';
import type { ModePlace } from './mode-place.ts';
import { storedMode } from './mode-validation.ts';
import { storedModeConfig } from './stored-modes.ts';

/** A mode with broken settings stays where it is: it could hold a key as plain text. */
export async function copyModes(from: Pick<ModePlace, 'name' | 'read'>, to: ModePlace): Promise<CopiedModes> {
  const { modes, faulty, default: chosen } = storedModeConfig(await from.read(), from.name);
  const original = modes.map((mode) => [mode.name, storedMode(mode)] as const);
  let missing: typeof original = [];
  let kept: readonly string[] = [];
  await to.update((there) => {
    const isThere = (name: string) => Object.hasOwn(there.modes, name);
    missing = original.filter(([name]) => !isThere(name));
    kept = original.flatMap(([name, mode]) =>
      isThere(name) && !isDeepStrictEqual(there.modes[name], mode) ? [name] : [],
    );
    return {
      modes: { ...there.modes, ...Object.fromEntries(missing) },
      default_mode: there.default_mode ?? chosen,
    };
  });
  return { copied: missing.length, kept, faulty: faulty.map(({ name }) => name) };
}
