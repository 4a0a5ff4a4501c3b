// The fenced blocks of a text.
import { describe, expect, test } from 'vitest';
import { fencedBlock } from '../../../../src/cli/terminal/markdown/fenced-block.ts';

describe('the fenced block of a text', () => {
  test.each([
    ['between backticks', 'a\n```js\nlet x;\n```\nb', 'let x;\n'],
    ['between tildes', '~~~\na\n~~~', 'a\n'],
    ['with backticks within, for its fence is longer', '````\n```\na\n```\n````', '```\na\n```\n'],
    ['of tildes with backticks within', '~~~\n```\n~~~', '```\n'],
    ['that is not closed goes to the end', '```\na\nb', 'a\nb\n'],
    ['keeps its blank lines, also the last', '```\n\na\n\n```', '\na\n\n'],
    ['is closed by a longer fence', '```\na\n`````\nb', 'a\n'],
    ['is not closed by a shorter one', '`````\na\n```\n`````', 'a\n```\n'],
    ['loses the indentation of its fence', '  ```\n  a\n    b\n  ```', 'a\n  b\n'],
    ['in a list', '1. a:\n\n   ```sh\n   ls\n   ```\n', 'ls\n'],
    ['in a quotation', '> ```\n> a\n> ```\n', 'a\n'],
    ['that is empty', '```\n```', ''],
  ])('%s', async (_fact, text, block) => {
    expect(await fencedBlock(text, 'first')).toBe(block);
    expect(await fencedBlock(text, 'last')).toBe(block);
  });

  test('is the first or the last, as asked', async () => {
    const text = '```\na\n```\n\n```\nb\n```\n';
    expect(await Promise.all([fencedBlock(text, 'first'), fencedBlock(text, 'last')])).toEqual([
      'a\n',
      'b\n',
    ]);
  });

  test.each([
    ['words alone', 'no code here'],
    ['code within a line', 'see ```code``` there'],
    ['a block that is only indented', '    a\n'],
    ['a fence that is indented too far', '    ```\n    a\n    ```'],
    ['two backticks', '``\na\n``'],
  ])('is missing in %s', async (_fact, text) => {
    expect(await fencedBlock(text, 'first')).toBe(null);
  });
});
