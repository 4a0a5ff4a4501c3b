// The features of this machine: commands, permissions. A test that needs a missing one is skipped; in CI it fails.
import { spawnSync } from 'node:child_process';

/** Whether a command is on the PATH. In CI (`CI=true`), a missing one is an error that names it. */
export function hasCommand(name: string): boolean {
  return mayTest(spawnSync('sh', ['-c', `command -v ${name}`]).status === 0, `the command ${name}`);
}

/** Returns whether a test can run here. In CI, a missing feature is an error that names it. */
export function mayTest(isPossible: boolean, need: string): boolean {
  if (!isPossible && process.env['CI'] === 'true') throw new Error(`CI has to have ${need} for this test.`);
  return isPossible;
}
