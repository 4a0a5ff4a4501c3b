// The lines of the section "For scripts" of the README work, one after the other, as they stand there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hasCommand } from '../support/machine.ts';
import { Place } from '../support/parley.ts';

const place = new Place();
afterAll(() => place.remove());

const hasTools = ['jq', 'git'].every(hasCommand);

test.skipIf(!hasTools)('each line of the section "For scripts" works', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = readme.split('\n## For scripts\n');
  const [, lines = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  expect(lines).toContain('--batch --resume');
  writeFileSync(join(place.path, 'notes.md'), '# Notes\n\n```sh\nls\n```\n\n```sh\npwd\n```\n');
  writeFileSync(join(place.path, 'plan.md'), 'All of it.\n');
  writeFileSync(join(place.path, 'questions.txt'), 'Who are you?\nWhat is the time?\nGoodbye.\n');
  const setUp =
    'git init -q; git add plan.md; git -c user.name=t -c user.email=t@localhost commit -qm one; echo more >> plan.md';
  const { status, err } = await place.shell(`set -e -o pipefail; ${setUp}\nset -x\n${lines}`);
  expect(status, err).toBe(0);
  expect(readFileSync(join(place.path, 'last.sh'), 'utf8')).toBe('pwd\n');
  const answers = readFileSync(join(place.path, 'answers.ndjson'), 'utf8').trimEnd().split('\n');
  expect(answers.map((line) => JSON.parse(line)).map(({ id, success }) => [id, success])).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
  expect(err).toContain('0 requests answered, 3 answered before.');
});
