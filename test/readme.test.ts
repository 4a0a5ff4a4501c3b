// The README is short, its links lead somewhere, and what it shows is what the documents behind it explain.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The anchors that a Markdown page gets on the pages of a code host: one for each heading. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the README has at most 10 KB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(10_000);
});

test.each(documents)('each link of %s leads to a file and a heading that are there', (path) => {
  const links = [...read(path).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.filter(([, file = '', anchor]) => {
    const target = file === '' ? path : join(dirname(path), file);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test.each([
  ['For admins', 'docs/admin.md'],
  ['Use a real model', 'docs/models.md'],
])('each command of the section "%s" stands in %s, whose commands are tested', (section, path) => {
  const [, text = ''] = read('README.md').split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  const commands = [...own.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.split('\n').filter((line) => line !== ''),
  );
  expect(commands.length).toBeGreaterThan(2);
  const explained = read(path).split('\n');
  expect(commands.filter((command) => !explained.includes(command))).toEqual([]);
});
