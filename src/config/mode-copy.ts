// Copies the modes of one place to another. Modes that exist at the target are not changed, because they may be in use.

import { isDeepStrictEqual } from 'node:util';
import type { CopiedModes } from '../service/administration.ts';
import type { ModePlace } from './mode-place.ts';
import { storedMode } from './mode-validation.ts';
import { storedModeConfig } from './stored-modes.ts';

/** A mode with invalid settings is not copied, because it could contain a key as plain text. */
export async function copyModes(from: Pick<ModePlace, 'name' | 'read'>, to: ModePlace): Promise<CopiedModes> {
  const { modes, faulty, default: defaultMode } = storedModeConfig(await from.read(), from.name);
  const original = modes.map((mode) => [mode.name, storedMode(mode)] as const);
  let missing: typeof original = [];
  let conflicting: readonly string[] = [];
  await to.update((target) => {
    const exists = (name: string) => Object.hasOwn(target.modes, name);
    missing = original.filter(([name]) => !exists(name));
    conflicting = original.flatMap(([name, mode]) =>
      exists(name) && !isDeepStrictEqual(target.modes[name], mode) ? [name] : [],
    );
    return {
      modes: { ...target.modes, ...Object.fromEntries(missing) },
      default_mode: target.default_mode ?? defaultMode,
    };
  });
  return { copied: missing.length, kept: conflicting, faulty: faulty.map(({ name }) => name) };
}
