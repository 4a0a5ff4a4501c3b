// The notices of the code in the build, against what npm has installed: each package that is part of the build is named with its version and
// the whole text of its licence.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { neededPackages } from './support/installed-packages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const notices = new Map(
  readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8')
    .split(/\n={80}\n\n/)
    .slice(1)
    .map((notice) => {
      const [title = '', ...text] = notice.split('\n');
      return [title.replace(/ \(.*\)$/, ''), text.join('\n').trim()] as const;
    }),
);

/** Packages of which the build contains nothing. A name that is missing from both lists needs a look at the bundle. */
const notInBuild = [
  // Questions that Parley does not ask.
  ...[
    '@inquirer/editor',
    '@inquirer/external-editor',
    '@inquirer/expand',
    '@inquirer/number',
    '@inquirer/rawlist',
  ],
  ...['chardet', 'iconv-lite', 'safer-buffer'],
  // Only types.
  ...['type-fest', 'tagged-tag', 'json-schema-typed'],
  // pino's threads, and ajv's code for files.
  ...['pino-abstract-transport', 'process-warning', 'real-require', 'require-from-string'],
];

/** The binding and the tools of its installation are installed beside Parley with their own licences. */
const packages = neededPackages(root, ['better-sqlite3']);

test('each package that the build may contain is named, or is known to be left out', () => {
  const unnamed = packages.filter(({ name, version }) => !notices.has(`${name} ${version}`));
  expect(unnamed.filter(({ name }) => !notInBuild.includes(name))).toEqual([]);
  expect(notices.size).toBeGreaterThan(80);
});

test('each named package stands with the whole text of its licence', () => {
  for (const { name, version, folder } of packages) {
    const text = notices.get(`${name} ${version}`);
    if (text === undefined) continue;
    expect(text, name).toMatch(
      /permission is hereby granted|permission to use, copy|redistribution and use/i,
    );
    for (const file of readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)))
      expect(text, name).toContain(readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  }
});

test('what packages carry compiled is named with its licence, too', () => {
  const inside = [...notices].filter(([title]) => title.includes(', inside '));
  expect(inside.map(([title]) => title.replace(/ [\d.]+$/, ''))).toEqual([
    'emscripten, inside jq-wasm',
    'jq, inside jq-wasm',
    'llhttp, inside undici',
    'musl, inside jq-wasm',
    'oniguruma, inside jq-wasm',
  ]);
  for (const [title, text] of inside)
    expect(text, title).toMatch(/permission is hereby granted|redistribution and use/i);
});
