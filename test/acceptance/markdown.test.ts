// A reply on a terminal is rendered as Markdown in the width of the terminal; elsewhere its bytes are unchanged.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutOwnWeight } from '../cli/terminal/attacks.ts';
import { screenOf } from '../cli/terminal/markdown/screen.ts';
import { Place } from '../support/parley.ts';

let place: Place;
beforeAll(() => {
  place = new Place();
});
afterAll(() => place.remove());

const reply = `## A title

Some **bold** words, and \`code\` that ends a line which is wrapped.

| 日本 | b |
|---|--:|
| c | 1 |

\`\`\`js
/* a
b */ let x;
\`\`\``;
const laidOut = [
  'A title',
  '',
  'Some bold words, and code that ends a',
  'line which is wrapped.',
  '',
  '日本 │ b',
  '─────┼──',
  'c    │ 1',
  '',
  '```js',
  '/* a',
  'b */ let x;',
  '```',
];
const chat = (flags: string) =>
  `stty cols 40 rows 30; printf %s '${reply}' | parley chat --quiet -m echo ${flags}`;

test.each(['', '--no-stream'])('on a terminal a reply is rendered in colour (%s)', async (flags) => {
  const { status, out } = await place.terminal(chat(flags));
  expect(status).toBe(0);
  const { lines, lookOf } = await screenOf(out, 40);
  expect(lines).toEqual(laidOut);
  expect(lookOf('A title')).toMatchObject({ bold: true });
  expect(lookOf('bold')).toMatchObject({ bold: true });
  expect(lookOf('words')).toMatchObject({ bold: false });
  expect(lookOf('code')).toMatchObject({ colour: 6 });
  expect(lookOf('b */')).toMatchObject({ dim: true });
  expect(lookOf('let')).toMatchObject({ colour: 5 });
});

test('without colour a reply is rendered with bold and italic only', async () => {
  const { out } = await place.terminal(chat(''), { NO_COLOR: '1' });
  expect(out).toContain('\x1b[1mbold\x1b[0m');
  expect(withoutOwnWeight(out).split('\n')).toEqual([
    'A title',
    '',
    'Some bold words, and `code` that ends a',
    'line which is wrapped.',
    ...laidOut.slice(4),
    '',
  ]);
});

test('with --raw, on a dumb terminal and in a pipe a reply is unchanged', async () => {
  const shown = await Promise.all([
    place.terminal(chat('--raw')),
    place.terminal(chat(''), { TERM: 'dumb' }),
    place.terminal(`${chat('')} | cat`),
  ]);
  expect(shown.map(({ out }) => out)).toEqual(Array(3).fill(`${reply}\n`));
});
