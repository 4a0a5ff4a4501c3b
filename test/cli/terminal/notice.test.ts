// Notices at a terminal: wrapped between words, with commands that can be copied.
import { expect, test } from 'vitest';
import { writeNotice } from '../../../src/cli/terminal/notice.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { stringStream } from './string-stream.ts';

const { signal } = new AbortController();

async function shown(text: string, facts: { readonly isTTY?: true; readonly columns?: number }) {
  const { stream, text: written } = stringStream(facts);
  await writeNotice(text, createOutput(stream, { role: 'talk', env: {}, noColor: true, signal }));
  return written();
}

const terminal = { isTTY: true, columns: 30 } as const;

test('a notice is wrapped between words, and a continued item of a list is indented further', async () => {
  expect(
    await shown('Not erased, because Parley cannot reach them:\n  backups and snapshots elsewhere', terminal),
  ).toBe('Not erased, because Parley\ncannot reach them:\n  backups and snapshots\n    elsewhere\n');
});

test('a command at the end of a line is one line, whatever its words are', async () => {
  expect(await shown("To try again: parley chat -n 'Hello there, my friend'", terminal)).toBe(
    "To try again:\nparley chat -n 'Hello there, my friend'\n",
  );
});

test('a sentence after a command is wrapped', async () => {
  expect(
    await shown('Pipe it in: parley templates edit NAME < FILE. Or set EDITOR to an editor.', terminal),
  ).toBe('Pipe it in:\nparley templates edit NAME < FILE.\nOr set EDITOR to an editor.\n');
  const quoted = "To retry: parley chat -n 'So it is. All of it is'";
  expect(await shown(quoted, terminal)).toBe(`${quoted.replace(': ', ':\n')}\n`);
});

test('the words of a wide script are measured by their columns', async () => {
  expect(await shown('The session 日本語のタイトル was renamed.', terminal)).toBe(
    'The session 日本語のタイトル\nwas renamed.\n',
  );
});

test('a stream that is no terminal gets the notice unchanged', async () => {
  const notice = 'A line that is longer than thirty columns stays one line.';
  expect(await shown(notice, { columns: 30 })).toBe(`${notice}\n`);
});
