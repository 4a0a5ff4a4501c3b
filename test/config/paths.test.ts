// The directories of each platform, and what overrides them.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configDirectory, dataDirectory, type PathVariables, realDirectory } from '../../src/config/paths.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

function directories(platform: string, home: string, env: PathVariables): readonly [string, string] {
  const machine = { platform, home, env, workingDirectory: platform === 'win32' ? 'C:\\work' : '/here' };
  return [configDirectory(machine), dataDirectory(machine)];
}

test.each<[string, PathVariables, string, string]>([
  ['linux', {}, '/home/ada/.config/parley', '/home/ada/.local/share/parley'],
  ['linux', { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/c/parley', '/d/parley'],
  [
    'linux',
    { XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: './d' },
    '/home/ada/.config/parley',
    '/home/ada/.local/share/parley',
  ],
  [
    'linux',
    { XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' },
    '/home/ada/.config/parley',
    '/home/ada/.local/share/parley',
  ],
  ['linux', { PARLEY_CONFIG_DIR: '/x', XDG_CONFIG_HOME: '/c' }, '/x', '/home/ada/.local/share/parley'],
  ['linux', { PARLEY_DATA_DIR: '/y/', XDG_DATA_HOME: '/d' }, '/home/ada/.config/parley', '/y'],
  ['linux', { PARLEY_CONFIG_DIR: 'x', PARLEY_DATA_DIR: '../y' }, '/here/x', '/y'],
  [
    'linux',
    { PARLEY_CONFIG_DIR: '', PARLEY_DATA_DIR: '' },
    '/home/ada/.config/parley',
    '/home/ada/.local/share/parley',
  ],
  ['freebsd', {}, '/home/ada/.config/parley', '/home/ada/.local/share/parley'],
  [
    'darwin',
    { XDG_DATA_HOME: '/d' },
    '/home/ada/Library/Preferences/parley',
    '/home/ada/Library/Application Support/parley',
  ],
  ['darwin', { PARLEY_CONFIG_DIR: '/x', PARLEY_DATA_DIR: '/y' }, '/x', '/y'],
])('on %s with %j they are %s and %s', (platform, env, config, data) => {
  expect(directories(platform, '/home/ada', env)).toEqual([config, data]);
});

test.each<[PathVariables, string, string]>([
  [{}, 'C:\\Users\\ada\\AppData\\Roaming\\parley\\Config', 'C:\\Users\\ada\\AppData\\Local\\parley\\Data'],
  [{ APPDATA: 'D:\\r', LOCALAPPDATA: 'D:\\l' }, 'D:\\r\\parley\\Config', 'D:\\l\\parley\\Data'],
  [{ PARLEY_CONFIG_DIR: 'x', PARLEY_DATA_DIR: 'E:\\y' }, 'C:\\work\\x', 'E:\\y'],
])('on Windows with %j they are %s and %s', (env, config, data) => {
  expect(directories('win32', 'C:\\Users\\ada', env)).toEqual([config, data]);
});

test('a directory has one real path, through any link, and before it is created', () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'real'));
  symlinkSync('real', join(root, 'link'));
  expect(realDirectory(join(root, 'link'))).toBe(join(root, 'real'));
  expect(realDirectory(join(root, 'link', 'new', 'er'))).toBe(join(root, 'real', 'new', 'er'));
  mkdirSync(join(root, 'real', 'new', 'er'), { recursive: true });
  expect(realDirectory(join(root, 'link', 'new', 'er'))).toBe(join(root, 'real', 'new', 'er'));
});

test('a missing directory keeps its real path behind links to it; a path through a loop of links is not changed', () => {
  const root = temporaryDirectory();
  symlinkSync('disk/away', join(root, 'link'));
  symlinkSync(join(root, 'link'), join(root, 'other'));
  symlinkSync('circle', join(root, 'circle'));
  expect(realDirectory(join(root, 'link'))).toBe(join(root, 'disk', 'away'));
  expect(realDirectory(join(root, 'other', 'data'))).toBe(join(root, 'disk', 'away', 'data'));
  expect(realDirectory(join(root, 'circle'))).toBe(join(root, 'circle'));
});
