// The rendering of each element of Markdown, with and without colour: `golden/NAME.md` beside `NAME.txt` and `NAME.colour.txt`, which show an
// escape as ␛. After an intended change: `npx vitest run test/cli/terminal/markdown/golden -u`, then read the diff.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { rendered } from './rendering.ts';

const directory = fileURLToPath(new URL('golden/', import.meta.url));
const names = readdirSync(directory)
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3));
const columns = 60;

describe('the rendering of', () => {
  test.each(names)('%s is the approved one', async (name) => {
    const text = readFileSync(`${directory}${name}.md`, 'utf8');
    const plain = await rendered([text], { columns });
    await expect(plain).toMatchFileSnapshot(`golden/${name}.txt`);
    const coloured = await rendered([text], { columns, colour: true });
    await expect(coloured.replaceAll('\x1b', '␛')).toMatchFileSnapshot(`golden/${name}.colour.txt`);
  });
});
