// A file that an export makes: whole or not at all, and never in the place of another that was not to be replaced.
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NewFile } from '../../../src/cli/transcripts/export-target.ts';

function place(): { readonly directory: string; readonly path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'parley-export-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, path: join(directory, 'a.md') };
}

it('does not replace a file that came while it was written', async () => {
  const { directory, path } = place();
  const file = await NewFile.create(path, { force: false, random: Math.random });
  await file.write('an export');
  writeFileSync(path, 'somebody else');
  await expect(file.keep()).rejects.toMatchObject({ code: 'USAGE' });
  await file.discard();
  expect(readFileSync(path, 'utf8')).toBe('somebody else');
  expect(readdirSync(directory)).toEqual(['a.md']);
});

it.each([true, false])('stands alone in its directory when it is kept (force: %s)', async (force) => {
  const { directory, path } = place();
  if (force) writeFileSync(path, 'before');
  const file = await NewFile.create(path, { force, random: Math.random });
  await file.write('an export');
  await file.keep();
  expect(readFileSync(path, 'utf8')).toBe('an export');
  expect(readdirSync(directory)).toEqual(['a.md']);
});

it('never takes the place of what is no file, whatever was asked for', async () => {
  const { directory, path } = place();
  const options = { force: true, random: Math.random };
  execFileSync('mkfifo', [path]);
  const link = join(directory, 'link');
  symlinkSync(path, link);
  const below = join(directory, 'directory');
  mkdirSync(below);
  for (const name of [path, link, below]) {
    await expect(NewFile.create(name, options)).rejects.toMatchObject({
      code: 'USAGE',
      message: `${name} is not a file that could be replaced.`,
    });
  }
  expect([lstatSync(path).isFIFO(), readdirSync(directory).sort()]).toEqual([
    true,
    ['a.md', 'directory', 'link'],
  ]);
});

it('replaces the file that a link leads to, and leaves the link', async () => {
  const { directory, path } = place();
  writeFileSync(path, 'before');
  const link = join(directory, 'link');
  symlinkSync('a.md', link);
  const file = await NewFile.create(link, { force: true, random: Math.random });
  await file.write('an export');
  await file.keep();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('an export');
});
