// `parley chat --batch` in a script: one result per line, in the order of the input, for successes and failures.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message, Page, Session } from '../../src/service/session.ts';
import { batch, resultsOf, runBatch } from '../support/chat-batch.ts';
import { expectFailure } from '../support/failures.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

describe.concurrent('a batch', () => {
  test('answers each line in order, and ends with 0', async () => {
    const {
      status,
      err,
      results: answered,
    } = await runBatch(place, 'one\r\n\n{"message":"two","id":"b"}\nthree');
    expect({ status, err }).toEqual({ status: 0, err: '3 requests answered.\n' });
    expect(answered.map(({ id, success, data }) => [id, success, data?.reply])).toEqual([
      [1, true, 'one'],
      ['b', true, 'two'],
      [4, true, 'three'],
    ]);
    expect(new Set(answered.map(({ data }) => data?.session_id)).size).toBe(3);
  });

  test('has all data of the response', async () => {
    const [result] = (await runBatch(place, 'one')).results;
    const alone = await place.answer<object>(['chat', '-n', '-m', 'echo', 'one']);
    expect(Object.keys(result?.data ?? {}).toSorted()).toEqual(Object.keys(alone).toSorted());
  });

  test('stops at the first line if the mode of the batch is unknown, unless each line names a mode', async () => {
    const words = ['chat', '--batch', '-m', 'ecko', '--concurrency', '1'];
    const outcome = await place.parley(words, { stdin: 'a\nb\nc\n' });
    expect(outcome.status).toBe(2);
    expect(outcome.err).toContain('parley: There is no mode "ecko". (UNKNOWN_MODE)');
    expect(outcome.out.trimEnd().split('\n')).toHaveLength(1);
    const ofVariable = ['chat', '--batch', '--concurrency', '1'];
    const env = { PARLEY_MODE: 'ecko' };
    const { status, out, err } = await place.parley(ofVariable, { stdin: 'a\nb\nc\n', env });
    const withoutSource = err.replace('The mode is named by PARLEY_MODE.\n', '');
    expect({ status, out, err: withoutSource }).toEqual({ status: 2, out: outcome.out, err: outcome.err });
    const named = await place.parley(words, { stdin: '{"message":"a","mode":"echo"}\n' });
    expect(named.status).toBe(0);
  });

  test('continues after lines that fail, and ends with 3', async () => {
    const lines = [
      '{"message":"a","mode":"none"}',
      '{"message":"b","session_id":"ses_none"}',
      '{oops',
      '{"message":"d","id":"x","more":1}',
      'e'.repeat(1024 * 1024 + 1),
      '{"message":"f","id":"1"}',
      'g',
    ];
    const { status, err, results: answered } = await runBatch(place, lines.join('\n'));
    expect({ status, err }).toEqual({ status: 3, err: '1 request answered, 6 failed.\n' });
    expect(answered.map(({ id, success, error }) => [id, success ? 'answered' : error?.code])).toEqual([
      [1, 'UNKNOWN_MODE'],
      [2, 'SESSION_NOT_FOUND'],
      [3, 'INVALID_REQUEST'],
      ['x', 'INVALID_REQUEST'],
      [5, 'PAYLOAD_TOO_LARGE'],
      ['1', 'INVALID_REQUEST'],
      [7, 'answered'],
    ]);
    expect(answered[3]?.error?.message).toContain('Line 4: the field more');
    expect(answered[5]?.error?.message).toContain('the id "1" was already used');
  });

  test('without lines has no results', async () => {
    expect(await runBatch(place, '')).toMatchObject({ status: 0, out: '' });
    expect(await place.parley(batch)).toMatchObject({ status: 0, out: '' });
  });

  test('answers a line as soon as it arrives', async () => {
    const child = place.start(batch);
    const ended = outcomeOf(child);
    for (const word of ['one', 'two']) {
      child.stdin.write(`${word}\n`);
      const [line] = await once(child.stdout, 'data');
      expect(JSON.parse(String(line)).data.reply).toBe(word);
    }
    child.stdin.end();
    expect((await ended).status).toBe(0);
  });

  test('sends the lines of a session in their order', async () => {
    const id = (await place.output(['sessions', 'create'])).trim();
    const lines = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? `other ${index}` : JSON.stringify({ message: `turn ${index}`, session_id: id }),
    );
    const { status } = await runBatch(place, lines.join('\n'), ['--concurrency', '8']);
    expect(status).toBe(0);
    const { items } = await place.answer<Page<Message>>(['sessions', 'messages', id]);
    expect(items.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
      Array.from({ length: 30 }, (_, index) => index)
        .filter((index) => index % 3 !== 0)
        .map((index) => `turn ${index}`),
    );
  });

  test('--in-session makes all lines turns of one session: a new one, with its title, or a given one', async () => {
    const fresh = await runBatch(place, 'a\nb\nc', ['--in-session', '--title', 'Together']);
    const ids = new Set(fresh.results.map(({ data }) => data?.session_id));
    expect(fresh.results.map(({ data }) => data?.message_count)).toEqual([2, 4, 6]);
    const [id = ''] = ids;
    expect(ids.size).toBe(1);
    const again = await runBatch(place, 'd\n{"message":"e","title":"t"}\nf', ['--in-session', '-s', id]);
    expect(again.results.map(({ data, error }) => data?.message_count ?? error?.code)).toEqual([
      8,
      'INVALID_REQUEST',
      10,
    ]);
    expect(await place.answer<Session>(['sessions', 'get', id])).toMatchObject({
      title: 'Together',
      message_count: 10,
    });
  });

  test('gives a line its own session with its title', async () => {
    const { results: answered } = await runBatch(place, '{"message":"a","title":"Mine"}');
    const { title } = await place.answer<Session>(['sessions', 'get', answered[0]?.data?.session_id ?? '']);
    expect(title).toBe('Mine');
  });

  test('does not change the session that -c continues', async () => {
    const own = removeAfterTest(new PlaceInProcess());
    const before = (await own.output(['sessions', 'create'])).trim();
    await own.output(batch, { stdin: 'a\nb' });
    const { session_id } = await own.answer<{ session_id: string }>(['chat', '-c', '-n', '-m', 'echo', 'x']);
    expect(session_id).toBe(before);
  });

  test('reports a line of 200 MB as a failure without reading it into memory', async () => {
    const script = `(head -c 200M /dev/zero | tr '\\0' x; printf '\\nnext\\n') | parley chat --batch -m echo`;
    const outcome = await place.shell(`${script} & wait $!; exit $?`);
    expect(outcome.status).toBe(3);
    expect(resultsOf(outcome).map(({ error, data }) => error?.code ?? data?.reply)).toEqual([
      'PAYLOAD_TOO_LARGE',
      'next',
    ]);
  });

  test('ends without an error when its reader leaves', async () => {
    const script = 'set -o pipefail; seq 1 100000 | parley chat --batch -m echo --quiet | head -n 2';
    const { out, err } = await place.shell(script);
    expect(resultsOf({ out }).map(({ id }) => id)).toEqual([1, 2]);
    expect(err).toBe('');
  });

  test.each([
    ['words', ['hello']],
    ['-f', ['-f', 'x']],
    ['-n', ['-n']],
    ['--json-stream', ['--json-stream']],
    ['--extract-code', ['--extract-code']],
    ['-s alone', ['-s', 'ses_1']],
    ['--title alone', ['--title', 'T']],
    ['-s and -c', ['--in-session', '-s', 'ses_1', '-c']],
    ['a concurrency of 0', ['--concurrency', '0']],
    ['--jq and --resume', ['--jq', 'empty', '--resume', 'none']],
  ])('with %s is refused', async (_fact, words) => {
    expectFailure(await place.parley([...batch, ...words], { stdin: 'a' }), { status: 2, code: 'USAGE' });
  });

  test.each(['--concurrency=2', '--in-session', '--resume=x'])('alone accepts %s', async (word) => {
    expectFailure(await place.parley(['chat', '-n', '-m', 'echo', 'a', word]), { status: 2, code: 'USAGE' });
  });
});

describe('progress', () => {
  test('on a terminal is one line that is redrawn, with count, rate and remaining time', async () => {
    const { out } = await place.terminal(
      'stty cols 80; seq 1 1000 > in.txt; parley chat --batch -m echo < in.txt > out.txt; wc -l < out.txt',
    );
    expect(out).toMatch(/\r\[[=> ]{20}\] \d+ answered, \d+ %, \d+ a second, \d+ s left/);
    expect(out).toMatch(/1000 requests answered(, in \d+ s)?\.\n1000\n$/);
  });

  test('has no remaining time if the end of the input is unknown', async () => {
    const { out } = await place.terminal(
      'stty cols 80; (seq 1 100; sleep 1; echo x) | parley chat --batch -m echo > out.txt',
    );
    expect(out).toMatch(/\r\d+ answered, \d+ a second/);
    expect(out).not.toContain('left');
  });
});
