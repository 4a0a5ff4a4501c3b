// What the machine that tests run on has of shells and readers of manuals.
import { spawnSync } from 'node:child_process';

export function hasCommand(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
