// Which arguments are no text. The bytes are those of /proc/<pid>/cmdline on Linux.
import { expect, test } from 'vitest';
import { requireText } from '../../src/cli/argument-text.ts';

const before = ['node', '--no-warnings', 'bin/parley.js'];

function lineOf(words: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat([...before, ...words].flatMap((word) => [Buffer.from(word), Buffer.of(0)]));
}

const decoded = (words: readonly (string | Uint8Array)[]) =>
  words.map((word) => Buffer.from(word).toString());

test.each([
  [1, [Buffer.of(0xe9)]],
  [2, ['chat', Buffer.from('Müller', 'latin1')]],
  [3, ['', '', Buffer.of(0x61, 0xc3), '']],
  [4, ['\ufffd', 'é', '\ufeff\ufffd', Buffer.of(0xef, 0xbf, 0xbd, 0xff), Buffer.of(0xfe)]],
])('argument %i is named as the first that is not UTF-8', (place, words) => {
  expect(() => requireText(decoded(words), lineOf(words))).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      message: expect.stringMatching(`^Argument ${place} has the byte`),
    }),
  );
});

test.each([
  ['a true U+FFFD', ['chat', '\ufffd', 'caf\ufffd\u{1f600}']],
  ['empty words at both ends', ['', '\ufffd', '']],
])('%s is accepted', (_name, words) => {
  expect(() => requireText(words, lineOf(words))).not.toThrow();
});

test('a command line that is shorter than the arguments, such as an overwritten one, refuses no word', () => {
  expect(() => requireText(['chat', '\ufffd'], Buffer.from('parley\0'))).not.toThrow();
  expect(() => requireText(['chat', '\ufffd'], Buffer.alloc(0))).not.toThrow();
});
