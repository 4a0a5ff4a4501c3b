import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { canPrompt, confirm } from '../../../src/cli/terminal/prompt.ts';

const asked = { stdinIsTerminal: true, stderrIsTerminal: true, noInput: false, env: {} };

test('a question is asked only between two terminals, without --no-input and outside CI', () => {
  expect(canPrompt(asked)).toBe(true);
  expect(canPrompt({ ...asked, env: { CI: '' } })).toBe(true);
  expect(canPrompt({ ...asked, stdinIsTerminal: false })).toBe(false);
  expect(canPrompt({ ...asked, stderrIsTerminal: false })).toBe(false);
  expect(canPrompt({ ...asked, noInput: true })).toBe(false);
  expect(canPrompt({ ...asked, env: { CI: 'true' } })).toBe(false);
});

test('where nobody can be asked the error names the flag that answers, and stdin is not opened', async () => {
  const stderr = createOutput(new PassThrough(), {
    role: 'talk',
    env: {},
    noColor: false,
    signal: new AbortController().signal,
  });
  const openStdin = () => {
    throw new Error('opened');
  };
  const { signal } = new AbortController();
  const job = { suspend: () => Promise.resolve() };
  const question = confirm('Delete 3 sessions?', '--yes', { allowed: false, openStdin, stderr, signal, job });
  await expect(question).rejects.toMatchObject({
    code: 'USAGE',
    message: 'Delete 3 sessions? Nobody can be asked here.',
    hint: 'Say yes with --yes.',
  });
});
