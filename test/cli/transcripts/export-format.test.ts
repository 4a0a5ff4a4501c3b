// The format that the extension of a file selects.
import { expect, test } from 'vitest';
import { formatOfFile } from '../../../src/cli/transcripts/export-format.ts';

test.each([
  ['a.md', 'md'],
  ['a.HTML', 'html'],
  ['a.htm', 'html'],
  ['a.markdown', 'md'],
  ['a.json', 'json'],
  ['a.jsonl', 'json'],
  ['a.ndjson', 'json'],
  ['a.openai.jsonl', 'openai-jsonl'],
  ['openai.jsonl', 'json'],
  ['a.txt', null],
  ['a.constructor', null],
  ['a.__proto__', null],
  ['md', null],
])('%s has the format %s', (path, format) => {
  expect(formatOfFile(path)).toBe(format);
});
