// The rules of the layout: imports between folders, the folders of packages, names and habits; and the checker reports each kind of violation.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findViolations } from './support/architecture-rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the repository has no violation', () => {
  const files = Object.fromEntries(
    ['src', 'test', 'bin', 'scripts'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|js)$/.test(name))
        .map((name) => [
          [folder, ...name.split(sep)].join('/'),
          readFileSync(join(root, folder, name), 'utf8'),
        ]),
    ),
  );
  expect(Object.keys(files)).toContain('src/service/errors.ts');
  expect(findViolations(files)).toEqual([]);
});

describe('what is allowed', () => {
  test.each([
    ['a room imports itself', 'src/store/sqlite/rows.ts', "import { a } from '../session-store.ts';"],
    [
      'local imports the store interface',
      'src/local/api-keys.ts',
      "import type { A } from '../store/session-store.ts';",
    ],
    [
      'serve alone imports the server',
      'src/cli/commands/serve.ts',
      "import { a } from '../../server/listen.ts';",
    ],
    ['a package is at home', 'src/store/postgres/open.ts', "import pg from 'pg';"],
    [
      'a package is at home in one file',
      'src/store/sqlite/better-sqlite3-driver.ts',
      "await import('better-sqlite3');",
    ],
    ['main touches the process', 'src/main.ts', 'process.exitCode = 1;'],
    ['a comment may name a command', 'src/local/api-keys.ts', '/** `parley keys list` and --all. */'],
    ['a member may be called process', 'src/local/api-keys.ts', 'export const a = { process: 1 }.process;'],
    [
      'the version comes from the package',
      'src/cli/program.ts',
      "import a from '../../package.json' with { type: 'json' };",
    ],
  ])('%s', (_fact, path, code) => {
    expect(findViolations({ [path]: `// Why.\n${code}\n` })).toEqual([]);
  });
});

describe('what is caught', () => {
  test.each([
    [
      'a static import',
      'src/cli/a.ts',
      "import { a } from '../local/b.ts';",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'a dynamic import',
      'src/cli/a.ts',
      "await import('../local/b.ts');",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'a type import',
      'src/cli/a.ts',
      "import type { A } from '../local/b.ts';",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'an inline type import',
      'src/cli/a.ts',
      "type A = import('../local/b.ts').A;",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'a re-export',
      'src/cli/a.ts',
      "export { a } from '../local/b.ts';",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'a re-export of all',
      'src/cli/a.ts',
      "export * from '../local/b.ts';",
      'cli/a.ts: may not import local/b.ts',
    ],
    [
      'more than an interface',
      'src/local/a.ts',
      "import '../store/sqlite/b.ts';",
      'local/a.ts: may not import store/sqlite/b.ts',
    ],
    [
      'the server outside of serve',
      'src/cli/a.ts',
      "import '../server/b.ts';",
      'cli/a.ts: may not import server/b.ts',
    ],
    [
      'an import out of src',
      'src/cli/a.ts',
      "import '../../test/b.ts';",
      'cli/a.ts: may not import ../test/b.ts',
    ],
    [
      'a package away from home',
      'src/cli/a.ts',
      "import { request } from 'undici';",
      'cli/a.ts: undici is not at home here',
    ],
    [
      'a library for SQLite outside of its driver',
      'src/store/sqlite/open.ts',
      "import Database from 'better-sqlite3';",
      'store/sqlite/open.ts: better-sqlite3 is not at home here',
    ],
    [
      'the SQLite of Node outside of its driver',
      'src/store/sqlite/open.ts',
      "await import('node:sqlite');",
      'store/sqlite/open.ts: node:sqlite is not at home here',
    ],
    [
      'a scoped package away from home',
      'src/local/a.ts',
      "import '@inquirer/prompts';",
      'local/a.ts: @inquirer/prompts is not at home here',
    ],
    [
      'a package without a home',
      'src/cli/a.ts',
      "await import('lodash/get');",
      'cli/a.ts: lodash is not at home here',
    ],
    [
      'an import of a computed name',
      'src/cli/a.ts',
      'await import(name);',
      'cli/a.ts: a computed name is not at home here',
    ],
    [
      'text for a terminal that is not filtered',
      'src/cli/a.ts',
      'export const a = (title: string) => new TerminalText(title);',
      'src/cli/a.ts: makes text for a terminal that is not filtered',
    ],
    ['a new room', 'src/extras/a.ts', '', 'extras/a.ts: stands in no room'],
    ['the process', 'src/cli/a.ts', 'export const a = process.env;', 'cli/a.ts: touches process'],
    [
      'the process as a module',
      'src/cli/a.ts',
      "import { env } from 'node:process';",
      'cli/a.ts: imports node:process',
    ],
    ['the console', 'src/cli/a.ts', 'console.log(1);', 'cli/a.ts: touches console'],
    [
      'a command outside of the command line',
      'src/local/a.ts',
      "export const a = 'See: parley models';",
      'local/a.ts: speaks of the command line: See: parley models',
    ],
    [
      'an option outside of the command line',
      'src/remote/a.ts',
      'export const a = `Allow it with --insecure-http`;',
      'remote/a.ts: speaks of the command line: Allow it with --insecure-http',
    ],
    ['a default export', 'src/cli/a.ts', 'export default 1;', 'cli/a.ts: has a default export'],
    ['mutable state', 'src/cli/a.ts', 'export let a = 1;', 'cli/a.ts: keeps mutable state in the module'],
    ['a name in camelCase', 'src/cli/someThing.ts', '', 'src/cli/someThing.ts: a name is not in kebab-case'],
    [
      'a folder in camelCase',
      'test/someThing/a.test.ts',
      '',
      'test/someThing/a.test.ts: a name is not in kebab-case',
    ],
    ['an empty name', 'src/cli/index.ts', '', 'src/cli/index.ts: "index" does not say what it holds'],
    [
      'an empty folder name',
      'test/helpers/a.ts',
      '',
      'test/helpers/a.ts: "helpers" does not say what it holds',
    ],
    ['a long file', 'src/cli/a.ts', `${'\n'.repeat(299)}// 301`, 'src/cli/a.ts: has 301 lines'],
  ])('%s', (_fact, path, code, violation) => {
    expect(findViolations({ [path]: `// Why.\n${code}\n` })).toEqual([violation]);
  });

  test('a file without an opening comment', () => {
    expect(findViolations({ 'scripts/a.js': 'run();\n' })).toEqual([
      'scripts/a.js: does not open with a comment',
    ]);
  });

  test('a circle of imports', () => {
    const files = {
      'src/cli/a.ts': "// Why.\nimport './b.ts';\n",
      'src/cli/b.ts': "// Why.\nimport type { C } from './c.ts';\n",
      'src/cli/c.ts': "// Why.\nawait import('./b.ts');\n",
    };
    expect(findViolations(files)).toEqual(['cli/b.ts → cli/c.ts → cli/b.ts: is a circle']);
  });

  test('an exported type whose name another file exports', () => {
    const files = {
      'src/service/a.ts': '// Why.\nexport interface Mode {}\n',
      'src/cli/b.ts': '// Why.\nexport type Mode = string;\n',
      'src/cli/c.ts': '// Why.\ntype Mode = string;\nexport const c: Mode = "";\n',
    };
    expect(findViolations(files)).toEqual(['Mode: is exported by service/a.ts and cli/b.ts']);
  });

  test('a file with the name of a file of another room, but for commands', () => {
    const files = {
      'src/http/json.ts': '// Why.\n',
      'src/wire/json.ts': '// Why.\n',
      'src/wire/inner/json.ts': '// Why.\n',
      'src/cli/keys.ts': '// Why.\n',
      'src/cli/terminal/keys.ts': '// Why.\n',
      'src/service/usage.ts': '// Why.\n',
      'src/cli/commands/usage.ts': '// Why.\n',
    };
    expect(findViolations(files)).toEqual([
      'json.ts: is the name of http/json.ts and wire/json.ts and wire/inner/json.ts',
    ]);
  });
});
