// The files that Tab offers for an argument.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fileChoices } from '../../../src/cli/repl/argument-choices.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a file is found by its accents, composed or decomposed, and offered by the name that it has', async () => {
  const [composed, decomposed] = ['\u00fc', 'u\u0308'];
  writeFileSync(join(folder, `M${decomposed}ll.md`), '');
  for (const accent of [composed, decomposed]) {
    const choices = await fileChoices(`${folder}/M${accent}`, undefined);
    expect(choices.map(({ value }) => value)).toEqual([`${folder}/M${decomposed}ll.md`]);
  }
  expect(await fileChoices(`${folder}/Mo`, undefined)).toEqual([]);
});
