// The command for the next page, whose cursor a server has chosen.
import { expect, test } from 'vitest';
import type { Printing } from '../../src/cli/context.ts';
import { writeNextPageHint } from '../../src/cli/next-page-hint.ts';

const target = { profile: null, url: null, insecureHttp: false, store: null, insecureStore: false, ca: null };
const text = { json: false, jq: null };

async function hintFor(cursor: string, all: boolean, output: object = text): Promise<string> {
  let talk = '';
  const context = {
    options: { ...target, ...output },
    say: async (line: string) => {
      talk += line;
    },
  } as unknown as Printing;
  await writeNextPageHint({ words: ['sessions', 'list'], operands: [], all }, cursor, context);
  return talk;
}

test('the next page is named by a command with the cursor', async () => {
  expect(await hintFor('abc', true)).toBe(
    'There are more results: add --all, or continue with: parley sessions list --cursor abc',
  );
  expect(await hintFor("it's", false)).toBe(
    "There are more results: continue with: parley sessions list --cursor 'it'\\''s'",
  );
});

test('the command for the next page has the same output', async () => {
  const hint = (output: object) => hintFor('abc', false, output);
  expect(await hint({ json: true, jq: null })).toContain(': parley sessions list --json --cursor abc');
  expect(await hint({ json: true, jq: '.data.items[]' })).toContain(
    ": parley sessions list --json --jq '.data.items[]' --cursor abc",
  );
});

test.each([['a\nparley: Log in again.'], ['a\r\nb'], ['\x1b[2J'], ['a\tb'], ['\u202ea']])(
  'the cursor %j is not put into a command',
  async (cursor) => {
    expect(await hintFor(cursor, true)).toBe('There are more results: add --all');
    expect(await hintFor(cursor, false)).toBe('There are more results.');
  },
);
