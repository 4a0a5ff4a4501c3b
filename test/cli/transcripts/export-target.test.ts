// The file that an export writes: complete or absent, and never over a file that must stay.
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { NewFile } from '../../../src/cli/transcripts/export-target.ts';
import { PartOwner } from '../../../src/system/part-owner.ts';
import { processTable } from '../../support/process-table.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const owner = new PartOwner({ processes: processTable, now: () => Date.now() });

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

function place(): { readonly directory: string; readonly path: string } {
  const directory = temporaryDirectory();
  return { directory, path: join(directory, 'a.md') };
}

it('does not replace a file that was created meanwhile', () => {
  const { directory, path } = place();
  const file = NewFile.create(path, false, owner);
  file.write('an export');
  writeFileSync(path, 'somebody else');
  expect(() => file.keep()).toThrow(expect.objectContaining({ code: 'USAGE' }));
  file.discard();
  expect(readFileSync(path, 'utf8')).toBe('somebody else');
  expect(readdirSync(directory)).toEqual(['a.md']);
});

it.each([true, false])('is the only file in its directory when it is complete (force: %s)', (force) => {
  const { directory, path } = place();
  if (force) writeFileSync(path, 'before');
  const file = NewFile.create(path, force, owner);
  file.write('an export');
  file.keep();
  expect(readFileSync(path, 'utf8')).toBe('an export');
  expect(readdirSync(directory)).toEqual(['a.md']);
});

it('never replaces a path that is not a regular file, with any option', () => {
  const { directory, path } = place();
  execFileSync('mkfifo', [path]);
  const link = join(directory, 'link');
  symlinkSync(path, link);
  const below = join(directory, 'directory');
  mkdirSync(below);
  for (const name of [path, link, below]) {
    for (const force of [true, false]) {
      expect(() => NewFile.create(name, force, owner)).toThrow(
        expect.objectContaining({
          code: 'USAGE',
          message: `${name} is not a regular file.`,
          hint: expect.not.stringContaining('--force'),
        }),
      );
    }
  }
  expect([lstatSync(path).isFIFO(), readdirSync(directory).sort()]).toEqual([
    true,
    ['a.md', 'directory', 'link'],
  ]);
});

it('replaces the target of a link, and keeps the link', () => {
  const { directory, path } = place();
  writeFileSync(path, 'before');
  const link = join(directory, 'link');
  symlinkSync('a.md', link);
  const file = NewFile.create(link, true, owner);
  file.write('an export');
  file.keep();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('an export');
});

it.skipIf(disk === null)('that has no room is not left there, and the error asks for room', () => {
  disk?.fill(2);
  const directory = disk?.path ?? '';
  const path = join(directory, 'a.md');
  const file = NewFile.create(path, false, owner);
  expect(() => {
    file.write('x'.repeat(64 * 1024));
    file.keep();
  }).toThrow(
    expect.objectContaining({
      code: 'STORAGE_FULL',
      message: `Cannot write the file ${path}: the disk is full.`,
      hint: 'No incomplete file was left. Free some space there, or name a file on another disk.',
    }),
  );
  file.discard();
  expect(readdirSync(directory)).toEqual(['ballast']);
});
