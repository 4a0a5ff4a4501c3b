// The manual page of the package: generated from this tree, complete, and readable by man.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { manPage } from '../../scripts/manual/man-page.ts';
import { line } from '../../scripts/manual/roff.ts';
import { errorKind } from '../../src/service/errors.ts';
import { hasCommand } from '../support/machine.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const path = fileURLToPath(new URL(`../../${packageJson.man}`, import.meta.url));
const page = readFileSync(path, 'utf8');
const place = new PlaceInProcess();
afterAll(() => place.remove());

test('the page in the build is the one that this tree generates', async () => {
  expect(await manPage(packageJson.version)).toBe(page);
});

test('every command has a section with all of its options', async () => {
  const paths = [''];
  for (let at = 0; at < paths.length; at++) {
    const words = (paths[at] ?? '').split(' ').filter(Boolean);
    const help = await place.output([...words, '--help']);
    const inner = /\nCommands:\n((?: {2,}.*\n)+)/.exec(help)?.[1]?.match(/^ {2}\w[\w-]*/gm) ?? [];
    if (inner.length > 0) {
      paths.push(...inner.map((name) => [...words, name.trim()].join(' ')));
      continue;
    }
    expect(page).toMatch(new RegExp(`\\.SS "parley ${words.join(' ')}[ "]`));
    const options = /\nOptions:\n((?: {2,}.*\n)+)/.exec(help)?.[1]?.match(/--[a-z][a-z-]*/g) ?? [];
    for (const option of options) expect(page).toContain(option.replaceAll('-', '\\-'));
  }
  expect(paths.length).toBeGreaterThan(20);
  for (const code of Object.keys(errorKind)) expect(page).toContain(code);
  expect(page).not.toContain('__');
});

test('text that troff could read as a request is escaped', () => {
  expect(line(".a \\fB 'x' `y` ~^ - é 😀")).toBe(
    '\\&.a \\efB \\(aqx\\(aq \\(gay\\(ga \\(ti\\(ha \\- \\[u00E9] \\[u1F600]\n',
  );
});

test.runIf(hasCommand('groff'))('groff renders it without a warning', () => {
  const { stdout, stderr } = spawnSync('groff', ['-ww', '-man', '-Tascii', path], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain('SESSION_NOT_FOUND');
});

test.runIf(hasCommand('groff'))('no word is hyphenated, so that codes and variables can be found', () => {
  const { stdout } = spawnSync('groff', ['-man', '-Tutf8', '-P-c', path], { encoding: 'utf8' });
  for (const code of Object.keys(errorKind)) expect(stdout).toContain(code);
  expect(stdout).not.toContain('\u2010\n');
});

test.runIf(hasCommand('mandoc'))('mandoc warns only about the missing date', () => {
  const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', path], { encoding: 'utf8' });
  expect(stdout.split('\n').filter((warning) => warning !== '' && !warning.includes('missing date'))).toEqual(
    [],
  );
});

test.runIf(hasCommand('man'))('man shows it', () => {
  const { stdout, status } = spawnSync('man', ['-l', path], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '100' },
  });
  expect(status).toBe(0);
  expect(stdout).toContain('parley sessions delete [options] [id...]');
});
