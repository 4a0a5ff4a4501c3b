// How a chat writes its reply to a stdout that is no terminal.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { ProgramInProcess } from '../support/program-in-process.ts';

// Programs that run in parallel share a file or a pipe, as with `xargs -P`. Lines stay whole there if each is one write.
test.each([
  [['--no-stream', 'hi'], 'hi\n'],
  [['--no-stream', 'two\nlines\n'], 'two\nlines\n'],
  [['--extract-code', '```\ncode\n```'], 'code\n'],
])('%j writes the reply and its newline at once', async (words, reply) => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-output-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'store'));
  const backend = await openEmbedded(join(directory, 'store'));
  onTestFinished(() => backend.close());
  const program = new ProgramInProcess({ directory, backend, apiKey: await newKey(backend, 'own') });
  const { status, writes } = await program.run(['chat', '-n', '-m', 'echo', ...words], []);
  expect({ status, writes }).toEqual({ status: 0, writes: [reply] });
});
