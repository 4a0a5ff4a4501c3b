// A file that an export makes: whole or not at all, and never in the place of another that was not to be replaced.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
