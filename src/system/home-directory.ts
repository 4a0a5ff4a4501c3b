// The home directory of the user.
import { homedir } from 'node:os';

/** Empty if the system knows none: a container may run a user that it does not list. */
export function homeDirectory(env: NodeJS.ProcessEnv, platform: string): string {
  // The system's own answer is the same, and comes later.
  if (platform !== 'win32' && env['HOME']) return env['HOME'];
  try {
    return homedir();
  } catch {
    // env-paths, a dependency of conf, asks for the home directory while it loads, and would throw. Its result is not used.
    env['HOME'] = '/';
    return '';
  }
}
