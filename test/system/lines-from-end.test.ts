// The lines of a file from its end: whole, in order, within bounded memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { linesFromEnd } from '../../src/system/lines-from-end.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory = '';
beforeEach(() => {
  directory = temporaryDirectory();
});

function read(text: string, options = { maxBytes: 10_000_000, maxLineBytes: 1_000_000 }): readonly string[] {
  const file = join(directory, 'file');
  writeFileSync(file, text);
  return [...linesFromEnd(file, options)];
}

test('the lines are those of the text in reverse order, also if a line or a character spans chunks of the file', () => {
  const lines = ['', 'é'.repeat(40_000), 'short', '', `${'漢'.repeat(70_000)}!`, 'last', ''];
  expect(read(lines.join('\n'))).toEqual(lines.toReversed());
  expect(read('')).toEqual(['']);
  expect(read('one')).toEqual(['one']);
});

test('the lines omit one that is too long, and one that begins before the part that is read', () => {
  const options = { maxBytes: 1_000_000, maxLineBytes: 1_000 };
  expect(read(`a\n${'x'.repeat(1_001)}\n${'y'.repeat(1_000)}\n`, options)).toEqual([
    '',
    'y'.repeat(1_000),
    'a',
  ]);
  expect(read('abc\ndef\nghi', { maxBytes: 6, maxLineBytes: 1_000 })).toEqual(['ghi']);
});
