// A batch whose process is killed before it has printed all results that its journal has: a resumption prints the missing ones.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openBasicServer } from '../support/basic-server.ts';
import { endOf, Place } from '../support/parley.ts';
import { makeSessions } from '../support/stored.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const lines = (text: string) => text.split('\n').slice(0, -1);

/** The only journal. */
function journal(): { readonly batch: string; readonly path: string; readonly text: string } {
  const directory = join(place.dataDirectory, 'batches');
  const [name = ''] = readdirSync(directory).filter((name) => name.endsWith('.journal'));
  const path = join(directory, name);
  return { batch: name.replace(/\.journal$/, ''), path, text: readFileSync(path, 'utf8') };
}

test('a resumed deletion prints the results that a killed process did not print', async () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `${index}-${'x'.repeat(200)}`);
  const isMissing = (index: number) => index % 10 === 0 && index < 4000;
  const there = ids.filter((_, index) => !isMissing(index));
  const server = await openBasicServer({ ids: there, projectId: 'prj_1' });
  onTestFinished(() => server.close());
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' };
  const child = place.spawn(['sessions', 'delete', '-', '--yes'], { env, stdin: `${ids.join('\n')}\n` });
  // Nobody reads the output, so most results remain unprinted. Without a listener Node would drop what the process has written at its end.
  child.stdout?.on('readable', () => {});
  const recorded = () => readdirSync(place.path).includes('data') && journal().text;
  await expect.poll(recorded, { timeout: 30_000 }).toContain('\n4600 deleted\n');
  child.kill('SIGKILL');
  await endOf(child);
  let first = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) first += text;
  expect(lines(first).length).toBeLessThan(4600);
  const words = ['sessions', 'delete', '--resume', journal().batch];
  const second = await place.parley(words, { env });
  expect(second.status).toBe(3);
  const printed = new Set([...lines(first), ...lines(second.out)]);
  const expected = ids.map((id, index) => `${isMissing(index) ? 'not_found' : 'deleted'} ${id}`);
  expect(expected.filter((line) => !printed.has(line))).toEqual([]);
  expect(printed.size).toBe(ids.length);
  expect((await place.parley(words, { env })).out).toBe('');
});

test.each([['--json'], ['--no-color']])(
  'the missing results are printed as they would have been (%s)',
  async (option) => {
    await place.output(['models']);
    const ids = [...(await makeSessions(place, 3)), 'ses_none'];
    await place.output(['sessions', 'tag', ids[0] ?? '', '+work']);
    const { out } = await place.parley(['sessions', 'tag', ...ids, '+work', '--yes', option]);
    expect(lines(out)).toHaveLength(4);
    const { batch, path, text } = journal();
    const words = ['sessions', 'tag', '--resume', batch, option];
    expect((await place.parley(words)).out).toBe('');
    writeFileSync(path, text.replace(/^printed [1-9].*\n/gm, ''));
    expect(await place.parley(words)).toMatchObject({ status: 3, out });
    expect((await place.parley(words)).out).toBe('');
  },
);

test('the results of a journal of an earlier version count as printed', async () => {
  await place.output(['models']);
  await place.output(['sessions', 'delete', ...(await makeSessions(place, 3)), '--yes']);
  const { batch, path, text } = journal();
  writeFileSync(path, text.replace(/^printed .*\n/gm, ''));
  expect((await place.parley(['sessions', 'delete', '--resume', batch])).out).toBe('');
});
