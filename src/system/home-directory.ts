// The home directory of the user.
import { homedir } from 'node:os';

/** Empty if there is none: a container may run as a user that is not in its user database. Sets a missing `HOME`, which `~/` is read from. */
export function homeDirectory(env: NodeJS.ProcessEnv, platform: string): string {
  // `homedir` would return the same value, but takes longer.
  if (platform !== 'win32' && env['HOME']) return env['HOME'];
  try {
    const home = homedir();
    env['HOME'] ||= home;
    return home;
  } catch {
    // env-paths, a dependency of conf, calls `homedir` when it is loaded, and would throw. Its result is not used.
    env['HOME'] = '/';
    return '';
  }
}
