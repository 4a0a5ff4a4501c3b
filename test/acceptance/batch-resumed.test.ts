// `parley chat --batch --resume` continues a batch in the file of its results.
import {
  appendFileSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batch, resultsOf } from '../support/chat-batch.ts';
import { expectFailure } from '../support/failures.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

describe('a resumed batch', () => {
  const file = join(place.path, 'out.ndjson');
  const answered = (id: unknown) => `${JSON.stringify({ id, success: true, data: { reply: 'before' } })}\n`;
  const failed = (id: unknown) => `${JSON.stringify({ id, success: false, error: { code: 'NETWORK' } })}\n`;
  const resumed = () =>
    resultsOf({ out: readFileSync(file, 'utf8') }).map(({ id, data }) => [id, data?.reply]);

  async function resume(stdin: string, words: readonly string[] = []) {
    return place.parley([...batch, '--resume', file, ...words], { stdin });
  }

  test('skips answered lines, repeats failed ones, and drops an incomplete last line', async () => {
    writeFileSync(file, `${answered(1)}${failed(2)}${answered('x')}{"id":4,"suc`, { mode: 0o640 });
    const { status, out, err } = await resume('a\nb\n{"message":"c","id":"x"}\nd\n');
    expect({ status, out }).toEqual({ status: 0, out: '' });
    expect(err).toContain('2 requests answered, 2 answered before.');
    expect(resumed()).toEqual([
      [1, 'before'],
      ['x', 'before'],
      [2, 'b'],
      [4, 'd'],
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('is refused while another process writes to the same file', async () => {
    const own = join(place.path, 'held.ndjson');
    const child = place.start([...batch, '--resume', own]);
    const ended = outcomeOf(child);
    child.stdin.write('a\n');
    await expect.poll(() => existsSync(own) && readFileSync(own, 'utf8')).toMatch(/\n$/);
    const second = await place.parley([...batch, '--resume', own], { stdin: 'a\nb\n' });
    expectFailure(second, { status: 7, code: 'STORE_BUSY' });
    child.stdin.end('b\n');
    expect((await ended).status).toBe(0);
    expect(resultsOf({ out: readFileSync(own, 'utf8') }).map(({ id }) => id)).toEqual([1, 2]);
    expect((await place.parley([...batch, '--resume', own], { stdin: 'a\nb\n' })).status).toBe(0);
  });

  test('is refused while a first run writes to the same file, also by another name', async () => {
    const own = join(place.path, 'first.ndjson');
    symlinkSync(own, join(place.path, 'link.ndjson'));
    const first = place.shell(
      '{ echo a; for i in $(seq 300); do [ -e go ] && break; sleep 0.05; done; echo b; } | parley chat --batch -m echo --quiet > first.ndjson',
    );
    await expect.poll(() => existsSync(own) && readFileSync(own, 'utf8')).toMatch(/\n$/);
    for (const name of ['first.ndjson', 'link.ndjson']) {
      const second = await place.parley([...batch, '--resume', join(place.path, name)], { stdin: 'a\nb\n' });
      expectFailure(second, { status: 7, code: 'STORE_BUSY' });
      expect(second.err).toContain(name);
    }
    writeFileSync(join(place.path, 'go'), '');
    await first;
    expect(resultsOf({ out: readFileSync(own, 'utf8') }).map(({ id }) => id)).toEqual([1, 2]);
    expect((await place.parley([...batch, '--resume', own], { stdin: 'a\nb\n' })).status).toBe(0);
  });

  test('is refused while another process resumes it by another name', async () => {
    const own = join(place.path, 'resumed.ndjson');
    writeFileSync(own, '');
    symlinkSync(own, join(place.path, 'resumed-link.ndjson'));
    linkSync(own, join(place.path, 'resumed-hard.ndjson'));
    const child = place.start([...batch, '--resume', own]);
    const ended = outcomeOf(child);
    child.stdin.write('a\n');
    await expect.poll(() => readFileSync(own, 'utf8')).toMatch(/\n$/);
    for (const name of ['resumed-link.ndjson', 'resumed-hard.ndjson']) {
      const second = await place.parley([...batch, '--resume', join(place.path, name)], { stdin: 'a\nb\n' });
      expectFailure(second, { status: 7, code: 'STORE_BUSY' });
    }
    child.stdin.end('b\n');
    expect((await ended).status).toBe(0);
    expect(resultsOf({ out: readFileSync(own, 'utf8') }).map(({ id }) => id)).toEqual([1, 2]);
  });

  test('drops only an incomplete last line if no line failed, and keeps a complete one without its line end', async () => {
    writeFileSync(file, `${answered(1)}{"id":2,"success":true,"da`);
    await resume('a\nb');
    expect(resumed()).toEqual([
      [1, 'before'],
      [2, 'b'],
    ]);
    writeFileSync(file, answered(1).trimEnd());
    await resume('a\nb');
    expect(resumed()).toEqual([
      [1, 'before'],
      [2, 'b'],
    ]);
  });

  test('starts with a missing file, and does nothing when it is complete', async () => {
    rmSync(file);
    expect((await resume('a\nb')).status).toBe(0);
    const whole = readFileSync(file, 'utf8');
    expect((await resume('a\nb')).err).toContain('0 requests answered, 2 answered before.');
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  test('continues the session of the first run', async () => {
    rmSync(file);
    await resume('a\nb', ['--in-session']);
    await resume('a\nb\nc', ['--in-session']);
    const made = resultsOf({ out: readFileSync(file, 'utf8') });
    expect(new Set(made.map(({ data }) => data?.session_id)).size).toBe(1);
    expect(made.map(({ data }) => data?.message_count)).toEqual([2, 4, 6]);
  });

  test('sends a line that was interrupted with its former key, so that its turn is found and not repeated', async () => {
    const script = 'printf "a\\nb\\n" | parley chat --batch -m echo --quiet > raw.ndjson';
    await place.shell(script);
    const raw = join(place.path, 'raw.ndjson');
    const [first = '', second = ''] = readFileSync(raw, 'utf8').split('\n');
    writeFileSync(raw, `${first}\n${second.slice(0, 20)}`);
    await place.parley([...batch, '--resume', raw], { stdin: 'a\nb\n' });
    expect(readFileSync(raw, 'utf8')).toBe(`${first}\n${second}\n`);
  });

  test.each([
    ['is not the output of a batch', 'one\ntwo\n', 'Line 1 of'],
    ['holds another thing in between', `${answered(1)}{"success":true}\n${answered(3)}`, 'Line 2 of'],
  ])('does not change a file that %s', async (_fact, text, problem) => {
    writeFileSync(file, text);
    const outcome = await resume('a\nb');
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain(problem);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('refuses a path that is not a file', async () => {
    for (const path of [place.path, '/dev/null']) {
      const outcome = await place.parley([...batch, '--resume', path], { stdin: 'a' });
      expectFailure(outcome, { status: 2, code: 'USAGE' });
    }
  });

  test('without a place for its record names the directory and the variable that moves it', async () => {
    const own = new PlaceInProcess();
    await own.output(['models']);
    const directory = join(own.dataDirectory, 'chat-batches');
    writeFileSync(directory, 'no directory');
    const outcome = await own.parley([...batch, '--resume', join(own.path, 'out.ndjson')], { stdin: 'a' });
    expect(outcome).toMatchObject({
      status: 2,
      err: expect.stringMatching(
        new RegExp(
          `^parley: ${directory} cannot be written \\(\\w+\\)\\. \\(CONFIG\\)\\n.* PARLEY_DATA_DIR `,
        ),
      ),
    });
    own.remove();
  });

  test('may also be appended to by the shell, and no result is there twice', async () => {
    writeFileSync(file, answered(1));
    appendFileSync(file, failed(2));
    await place.shell('printf "a\\nb\\n" | parley chat --batch -m echo --resume out.ndjson >> out.ndjson');
    expect(resumed()).toEqual([
      [1, 'before'],
      [2, 'b'],
    ]);
  });
});
