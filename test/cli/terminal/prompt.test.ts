// Questions at a terminal: when they are asked, and that only typed keys become an answer.
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import {
  askSecret,
  askText,
  canPrompt,
  choose,
  confirm,
  type Prompting,
} from '../../../src/cli/terminal/prompt.ts';

const asked = { stdinIsTerminal: true, stderrIsTerminal: true, noInput: false, env: {} };

test('a question is asked only between two terminals, without --no-input and outside CI', () => {
  expect(canPrompt(asked)).toBe(true);
  expect(canPrompt({ ...asked, env: { CI: '' } })).toBe(true);
  expect(canPrompt({ ...asked, stdinIsTerminal: false })).toBe(false);
  expect(canPrompt({ ...asked, stderrIsTerminal: false })).toBe(false);
  expect(canPrompt({ ...asked, noInput: true })).toBe(false);
  expect(canPrompt({ ...asked, env: { CI: 'true' } })).toBe(false);
});

test('if nobody can be asked, the error names the option that answers, and stdin is not opened', async () => {
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
    hint: 'Confirm with --yes.',
  });
});

describe('reports of the terminal during a question', () => {
  const reports = {
    'a colour (OSC 11)': '\x1b]11;rgb:1e1e/1e1e/2e2e\x07',
    'a colour, ended by ST': '\x1b]10;rgb:ffff/ffff/ffff\x1b\\',
    'the device (DA)': '\x1b[?64;1;2;6;9;15;22c',
    'the name (XTVERSION)': '\x1bP>|xterm(388)\x1b\\',
    'the position (DSR)': '\x1b[12;40R',
    'the mouse': '\x1b[<0;12;7M\x1b[<0;12;7m',
    'the mouse, as it was first told': '\x1b[M !!',
    'the focus': '\x1b[I\x1b[O',
  };
  const questions: Readonly<Record<string, (prompting: Prompting) => Promise<string>>> = {
    'a hidden key': (prompting) => askSecret('API key', '--key-stdin', prompting),
    'a line': (prompting) => askText('Name', '--name', prompting),
    'a choice': (prompting) => {
      const source = async (words: string) => [{ value: words, name: `<${words}>`, short: words }];
      return choose('Which?', { initial: '', source }, prompting);
    },
  };

  test.each(Object.entries(questions))('leave no character in %s', async (name, ask) => {
    const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
    const { signal } = new AbortController();
    const stream = Object.assign(new PassThrough(), { isTTY: true as const, columns: 80, rows: 24 });
    const stderr = createOutput(stream, { role: 'talk', env: {}, noColor: true, signal });
    let shown = '';
    stream.on('data', (data) => {
      shown += data;
    });
    const until = (text: string) => expect.poll(() => shown).toContain(text);
    const job = { suspend: () => Promise.resolve() };
    const answer = ask({ allowed: true, openStdin: () => keys, stderr, signal, job });
    await until('? ');
    for (const report of Object.values(reports)) {
      // The report arrives complete among the keys, and then in two chunks.
      keys.write(`k${report}`);
      const half = Math.ceil(report.length / 2);
      keys.write(report.slice(0, half));
      await delay(2);
      keys.write(`${report.slice(half)}y`);
    }
    const typed = 'ky'.repeat(Object.keys(reports).length);
    if (name === 'a choice') await until(`<${typed}>`);
    keys.write('\r');
    expect(await answer).toBe(typed);
  });
});
