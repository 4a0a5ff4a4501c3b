// The rendered bytes, read by a terminal emulator, at several widths.
import { describe, expect, test } from 'vitest';
import { rendered, stringTerminal, writerTo } from './rendering.ts';
import { screenOf } from './screen.ts';

const text = `# A title that wraps on narrow screens

Some **bold words**, *italic* ones, \`code\`, ~~gone~~ and a [link](https://e.com/).
日本語の文章はスペースなしで続きますので、折り返します。

- an item with enough words to wrap
  1. nested

> quoted words that wrap as well

| Name | Value |
|------|------:|
| 日本 | 1 |
| a longer name than that | 2222 |

\`\`\`js
const x = 'a string';
\`\`\`
`;

async function shown(columns: number) {
  return screenOf(await rendered(text.match(/[\s\S]{1,5}/g) ?? [], { columns, colour: true }), columns);
}

describe('the screen', () => {
  test('of 20 columns', async () => {
    const screen = await shown(20);
    expect(screen.lines).toEqual([
      'A title that wraps',
      'on narrow screens',
      '',
      'Some bold words,',
      'italic ones, code,',
      'gone and a link',
      '(https://e.com/).',
      '日本語の文章はスペー',
      'スなしで続きますの',
      'で、折り返します。',
      '',
      '• an item with',
      '  enough words to',
      '  wrap',
      '  1. nested',
      '',
      '│ quoted words that',
      '│ wrap as well',
      '',
      'Name         │ Value',
      '─────────────┼──────',
      '日本         │     1',
      '─────────────┼──────',
      'a longer     │  2222',
      'name than    │',
      'that         │',
      '',
      '```js',
      "const x = 'a string'",
      ';',
      '```',
    ]);
    expect(screen.wrapped).toEqual([';']);
  });

  test.each([80, 200])('of %i columns', async (columns) => {
    const screen = await shown(columns);
    expect(screen.lines).toEqual([
      'A title that wraps on narrow screens',
      '',
      'Some bold words, italic ones, code, gone and a link (https://e.com/).',
      '日本語の文章はスペースなしで続きますので、折り返します。',
      '',
      '• an item with enough words to wrap',
      '  1. nested',
      '',
      '│ quoted words that wrap as well',
      '',
      'Name                    │ Value',
      '────────────────────────┼──────',
      '日本                    │     1',
      'a longer name than that │  2222',
      '',
      '```js',
      "const x = 'a string';",
      '```',
    ]);
    expect(screen.wrapped).toEqual([]);
  });

  test('shows each element in its style', async () => {
    const { lookOf } = await shown(80);
    expect(lookOf('A title')).toMatchObject({ bold: true, underlined: true, colour: 5 });
    expect(lookOf('Some')).toEqual({
      bold: false,
      italic: false,
      underlined: false,
      struck: false,
      dim: false,
      colour: -1,
    });
    expect(lookOf('bold')).toMatchObject({ bold: true, italic: false });
    expect(lookOf('words,')).toMatchObject({ bold: true });
    expect(lookOf(', italic')).toMatchObject({ bold: false });
    expect(lookOf('italic')).toMatchObject({ italic: true, bold: false });
    expect(lookOf('code')).toMatchObject({ colour: 6 });
    expect(lookOf('gone')).toMatchObject({ struck: true });
    expect(lookOf('link')).toMatchObject({ underlined: true });
    expect(lookOf('https')).toMatchObject({ colour: 4 });
    expect(lookOf('•')).toMatchObject({ dim: true });
    expect(lookOf('│ quoted')).toMatchObject({ dim: true });
    expect(lookOf('quoted')).toMatchObject({ dim: false });
    expect(lookOf('Name')).toMatchObject({ bold: true });
    expect(lookOf('```js')).toMatchObject({ dim: true });
    expect(lookOf('const')).toMatchObject({ colour: 5 });
    expect(lookOf("'a string'")).toMatchObject({ colour: 2 });
  });

  test('keeps written lines when the terminal is resized, and wraps the next ones to the new width', async () => {
    const terminal = stringTerminal({ columns: 40 });
    const writer = writerTo(terminal);
    await writer.write('one two three four five six seven eight nine ten ');
    terminal.stream.columns = 20;
    await writer.write('one two three four five six seven eight nine ten');
    await writer.endLine();
    expect(terminal.text().split('\n')).toEqual([
      'one two three four five six seven eight',
      'nine ten one two',
      'three four five six',
      'seven eight nine ten',
      '',
    ]);
  });
});
