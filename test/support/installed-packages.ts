// Finds the packages that npm has installed for this repository, as Node does: the dependencies of a package, and theirs in turn.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** The direct and indirect dependencies of the package in `folder`, except those that only `leftOut` needs. Its own `node_modules` comes first. */
export function neededPackages(folder: string, leftOut: readonly string[] = []): readonly InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const visit = (from: string): void => {
    for (const name of Object.keys(manifestOf(from).dependencies ?? {})) {
      if (leftOut.includes(name)) continue;
      const at = findPackage(from, name);
      if (found.has(at)) continue;
      found.set(at, { name, version: manifestOf(at).version, folder: at });
      visit(at);
    }
  };
  visit(folder);
  return [...found.values()];
}

function findPackage(from: string, name: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (dirname(from) === from) throw new Error(`${name} is not installed.`);
  return findPackage(dirname(from), name);
}
