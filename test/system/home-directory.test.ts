// The home directory, and the variable that it is read from.
import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { homeDirectory } from '../../src/system/home-directory.ts';

test.each([
  ['linux', { HOME: '/home/ada' }, '/home/ada', '/home/ada'],
  ['linux', {}, homedir(), homedir()],
  ['win32', {}, homedir(), homedir()],
  ['win32', { HOME: '/c/Users/ada' }, homedir(), '/c/Users/ada'],
])('on %s with %j it is %s, and HOME is %s', (platform, variables, home, variable) => {
  const env: NodeJS.ProcessEnv = { ...variables };
  expect(homeDirectory(env, platform)).toBe(home);
  expect(env['HOME']).toBe(variable);
});
