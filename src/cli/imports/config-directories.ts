// Where other programs keep their configuration, which differs between systems. A place that does not exist holds no conversations.
import type { ScannedMachine } from './source.ts';

/** The directories that a program of this name may use on Linux, macOS and Windows. */
export function configDirectories({ home, env }: ScannedMachine, name: string): readonly string[] {
  const roots = [env['XDG_CONFIG_HOME'] ?? `${home}/.config`, `${home}/Library/Application Support`];
  if (env['APPDATA'] !== undefined) roots.push(env['APPDATA']);
  return roots.map((root) => `${root}/${name}`);
}
