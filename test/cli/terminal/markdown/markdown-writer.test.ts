// The writer of a reply: which one a stream gets, how soon words appear, how little it buffers, and that the order stays.
import { describe, expect, test } from 'vitest';
import { createOutput } from '../../../../src/cli/terminal/output.ts';
import { replyWriter } from '../../../../src/cli/terminal/reply-writer.ts';
import { stringStream } from '../string-stream.ts';
import { rendered, stringTerminal, writerTo } from './rendering.ts';

const colours = new RegExp(`${'\u001b'}\\[[\\d;]*m`, 'g');
const reply = '# Title\r\n\n**bold** \x1b[31m';

async function throughReplyWriter(stream: {
  isTTY?: boolean;
  env?: Record<string, string>;
  raw?: boolean;
}): Promise<string> {
  const { stream: written, text } = stringStream({ isTTY: stream.isTTY ?? false });
  const output = createOutput(written, {
    role: 'data',
    env: stream.env ?? {},
    noColor: true,
    signal: new AbortController().signal,
  });
  const writer = await replyWriter(output, {
    markdown: stream.raw ? 'never' : 'auto',
    signal: new AbortController().signal,
  });
  for (const unit of reply) await writer.write(unit);
  await writer.endLine();
  return text();
}

describe('a reply', () => {
  test('is Markdown on a terminal', async () => {
    expect(await throughReplyWriter({ isTTY: true })).toBe(
      '\x1b[1;4mTitle\x1b[0m\n\n\x1b[1mbold\x1b[0m \\x1b[31m\n',
    );
    expect(await rendered([reply], { colour: true })).toBe(
      '\x1b[1;4;35mTitle\x1b[0m\n\n\x1b[1mbold\x1b[0m \\x1b[31m\n',
    );
  });

  test('keeps its exact bytes in a pipe', async () => {
    expect(await throughReplyWriter({})).toBe(`${reply}\n`);
  });

  test.each([
    ['asked for raw', { isTTY: true, raw: true }],
    ['on a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }],
  ])('is filtered and not rendered %s', async (_, stream) => {
    expect(await throughReplyWriter(stream)).toBe('# Title\n\n**bold** \\x1b[31m\n');
  });
});

describe('words appear', () => {
  async function steps(pieces: readonly string[]): Promise<readonly string[]> {
    const terminal = stringTerminal();
    const writer = writerTo(terminal);
    const shown: string[] = [];
    for (const piece of pieces) {
      await writer.write(piece);
      shown.push(terminal.text());
    }
    return shown;
  }

  test('as soon as they are complete', async () => {
    expect(await steps(['The ', 'qui', 'ck ', 'fox', '\n', 'and **bo', 'ld** ', 'on'])).toEqual([
      'The',
      'The',
      'The quick',
      'The quick',
      'The quick fox',
      'The quick fox\nand',
      'The quick fox\nand **bold**',
      'The quick fox\nand **bold**',
    ]);
  });

  test('in lists, quotes and tables without delay but for the rows of a table', async () => {
    expect(
      await steps([
        '- an item ',
        'goes on ',
        '\n  > quoted ',
        'words ',
        '\n\n| a |\n|---|\n',
        '| b |\n',
        '\ntext ',
      ]),
    ).toEqual([
      '• an item',
      '• an item goes on',
      '• an item goes on\n  │ quoted',
      '• an item goes on\n  │ quoted words',
      '• an item goes on\n  │ quoted words\n',
      '• an item goes on\n  │ quoted words\n',
      '• an item goes on\n  │ quoted words\n\na\n─\nb\n\ntext',
    ]);
  });

  test('no more than a line late, whatever mark is open', async () => {
    for (const mark of ['*', '**', '***', '_', '~~', '`', '``', '[', '![', '<a ', '[x](', '**`', '*_[']) {
      const words = Array.from({ length: 200 }, (_, at) => `word${at}`);
      const shown = await steps([`Text ${mark}`, ...words.map((word) => `${word} `)]);
      for (const [at, text] of shown.entries()) {
        const last = Number(/(\d+)\D*$/.exec(text)?.[1] ?? -1);
        // A line of 80 columns holds no more than twelve of these words.
        expect(at - 1 - last).toBeLessThanOrEqual(12);
      }
    }
  });

  test('in colour, without an open style between two writes', async () => {
    const terminal = stringTerminal({ colour: true });
    const writer = writerTo(terminal);
    const text =
      '**strong words that go on for more than a line of eighty columns, so that they are shown before `their` end** *and*\n# On\n```js\n/* a\nb */ c\n';
    for (const unit of text) {
      await writer.write(unit);
      const switches = terminal.text().match(colours) ?? [];
      expect(switches.length === 0 || switches.at(-1) === '\x1b[0m').toBe(true);
    }
  });
});

describe('the buffered text stays small', () => {
  test.each([
    ['one paragraph', 'word and **strong** word '],
    ['one line without a space', 'abcd'],
    ['one line of ideographs', '語'],
    ['one strong span', 'word **word '],
    ['one open bracket after the other', '[word '],
    ['one block of code', 'let x = 1; '],
  ])('in %s', async (name, sample) => {
    const terminal = stringTerminal();
    const writer = writerTo(terminal);
    if (name === 'one block of code') await writer.write('```js\n');
    const piece = sample.repeat(Math.ceil(500 / sample.length));
    let sent = 0;
    let written = 0;
    for (let round = 0; round < 60; round++) {
      await writer.write(piece);
      sent += piece.replaceAll(/\s/g, '').length;
      written = terminal.text().replaceAll(/\s/g, '').length;
      expect(sent - written).toBeLessThan(2_200);
    }
    expect(written).toBeGreaterThan(sent / 2);
  });
});

test('writes that nobody awaits are printed in order', async () => {
  const terminal = stringTerminal({ colour: true });
  const writer = writerTo(terminal);
  const pieces = ['one\n\n```', 'js\nlet a;\n', '```\n\ntwo ', `${'long '.repeat(8_000)}\n\n`, 'three'];
  await Promise.all([...pieces.map((piece) => writer.write(piece)), writer.endLine()]);
  expect(terminal.text()).toBe(await rendered(pieces, { colour: true }));
  expect(terminal.text()).toMatch(/^one\n[\s\S]*two long[\s\S]*three\n$/);
});

test('an empty reply is an empty line, as without Markdown', async () => {
  expect(await rendered([])).toBe('\n');
  expect(await rendered(['text\n\n\n'])).toBe('text\n');
});
