// The command for the next page, whose cursor a server has chosen.
import { expect, test } from 'vitest';
import type { Printing } from '../../src/cli/context.ts';
import { writeNextPageHint } from '../../src/cli/next-page-hint.ts';

async function hintFor(cursor: string, all: boolean): Promise<string> {
  let said = '';
  const context = {
    options: { profile: null, url: null, insecureHttp: false, store: null, insecureStore: false, ca: null },
    say: async (line: string) => {
      said += line;
    },
  } as unknown as Printing;
  await writeNextPageHint({ words: ['sessions', 'list'], operands: [], all }, cursor, context);
  return said;
}

test('the next page is named by a command with the cursor', async () => {
  expect(await hintFor('abc', true)).toBe(
    'There are more results: add --all, or continue with: parley sessions list --cursor abc',
  );
  expect(await hintFor("it's", false)).toBe(
    "There are more results: continue with: parley sessions list --cursor 'it'\\''s'",
  );
});

test.each([['a\nparley: Log in again.'], ['a\r\nb'], ['\x1b[2J'], ['a\tb'], ['\u202ea']])(
  'the cursor %j is not put into a command',
  async (cursor) => {
    expect(await hintFor(cursor, true)).toBe('There are more results: add --all');
    expect(await hintFor(cursor, false)).toBe('There are more results.');
  },
);
