// Determines the directories of the configuration and of the data from facts that main.ts collects. Nothing is created here.
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, posix, resolve, win32 } from 'node:path';
import { ParleyError } from '../service/errors.ts';

/** The facts that determine the directories. */
export interface Machine {
  readonly env: PathVariables;
  /** The value of `process.platform`. */
  readonly platform: string;
  readonly home: string;
  /** The directory from which a relative override is resolved. */
  readonly workingDirectory: string;
}

export interface PathVariables {
  readonly PARLEY_CONFIG_DIR?: string | undefined;
  readonly PARLEY_DATA_DIR?: string | undefined;
  readonly XDG_CONFIG_HOME?: string | undefined;
  readonly XDG_DATA_HOME?: string | undefined;
  readonly APPDATA?: string | undefined;
  readonly LOCALAPPDATA?: string | undefined;
}

const name = 'parley';

export function configDirectory(machine: Machine): string {
  const { env, home } = machine;
  if (env.PARLEY_CONFIG_DIR) return resolveOverride(machine, env.PARLEY_CONFIG_DIR);
  switch (machine.platform) {
    case 'win32':
      return win32.join(env.APPDATA || win32.join(home, 'AppData', 'Roaming'), name, 'Config');
    case 'darwin':
      return posix.join(home, 'Library', 'Preferences', name);
    default:
      return posix.join(absolute(env.XDG_CONFIG_HOME) ?? posix.join(home, '.config'), name);
  }
}

export function dataDirectory(machine: Machine): string {
  const { env, home } = machine;
  if (env.PARLEY_DATA_DIR) return resolveOverride(machine, env.PARLEY_DATA_DIR);
  switch (machine.platform) {
    case 'win32':
      return win32.join(env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local'), name, 'Data');
    case 'darwin':
      return posix.join(home, 'Library', 'Application Support', name);
    default:
      return posix.join(absolute(env.XDG_DATA_HOME) ?? posix.join(home, '.local', 'share'), name);
  }
}

/** A longer chain of links counts as a cycle. */
const maxLinks = 40;

/**
 * The real path of a directory, because several paths may lead to it. The directory need not exist: for a link to a disk that is not mounted,
 * the result is the path of the link's target.
 */
export function realDirectory(directory: string, links = 0): string {
  const path = resolve(directory);
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const above = realDirectory(parent, links);
    const place = join(above, basename(path));
    const target = links < maxLinks ? linkTarget(place) : null;
    return target === null ? place : realDirectory(resolve(above, target), links + 1);
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // not a link, or no such file
  }
}

function resolveOverride(machine: Machine, directory: string): string {
  return (machine.platform === 'win32' ? win32 : posix).resolve(machine.workingDirectory, directory);
}

/** The XDG specification tells programs to ignore relative values. */
function absolute(value: string | undefined): string | null {
  return value !== undefined && posix.isAbsolute(value) ? value : null;
}

/**
 * Returns an absolute directory. Throws `CONFIG` for a name that is not UTF-8, and for a path that is relative because there is no home
 * directory: it would be a different directory in each working directory.
 */
export function requireAbsoluteDirectory(directory: string): string {
  // Node replaces bytes of a variable that are not UTF-8 by U+FFFD. The intended directory cannot be named, and no other one must be created.
  if (directory.includes('\ufffd') && !existsSync(directory)) {
    throw new ParleyError('CONFIG', `The directory ${directory} has a name that is not UTF-8.`, {
      hint: 'Rename it, or set PARLEY_CONFIG_DIR and PARLEY_DATA_DIR to other directories.',
    });
  }
  if (isAbsolute(directory)) return directory;
  throw new ParleyError('CONFIG', 'There is no home directory to keep the configuration and the data in.', {
    hint: 'Set HOME to an absolute path, or both PARLEY_CONFIG_DIR and PARLEY_DATA_DIR.',
  });
}
