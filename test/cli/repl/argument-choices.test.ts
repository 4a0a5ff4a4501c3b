// The files and the sessions that Tab offers for an argument.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ServiceAccess } from '../../../src/cli/context.ts';
import { fileChoices, sessionChoices } from '../../../src/cli/repl/argument-choices.ts';
import { complete } from '../../../src/cli/repl/completion.ts';
import { maxPageItems } from '../../../src/service/limits.ts';
import { callWith } from '../../support/calls.ts';
import { newKey, openEmbedded } from '../../support/embedded.ts';

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

test('a session is found by its title among more than a page of them, and no text is inserted that another one lacks', async () => {
  const backend = await openEmbedded(folder);
  const call = callWith(await newKey(backend, 'default'));
  const context = { open: async () => ({ backend }), call: async () => call } as unknown as ServiceAccess;
  const titles = ['Alpha', 'Note 5', ...Array.from({ length: maxPageItems + 10 }, (_, at) => `Note 1${at}`)];
  for (const title of titles) await backend.service.createSession(call, { title });
  const commands = [{ name: 'resume', choices: (text: string) => sessionChoices(text, context) }];
  const completed = async (line: string) => complete(line, line.length, commands, async () => []);

  expect((await completed('/resume al')).insert).toBe('alpha');
  const notes = await completed('/resume No');
  expect(notes.insert).toBe('No');
  expect(notes.choices.at(-1)).toBe('…');
  expect((await completed('/resume ')).insert).toBe('');
  await backend.close();
});
