// `parley chat --batch` as a script uses it: a result a line, in order, whatever becomes of each; stopped, and resumed.
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message, Page, Session } from '../../src/service/session.ts';
import { expectFailure, expectNoStackTrace } from '../support/failures.ts';
import { type Outcome, outcomeOf, Place, type RunOptions } from '../support/parley.ts';
import { type ReceivedRequest, type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new Place();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const batch = ['chat', '--batch', '-m', 'echo'];
const mebibyte = 1024 * 1024;

interface Result {
  readonly id: string | number;
  readonly success: boolean;
  readonly data?: { readonly session_id: string; readonly reply: string; readonly message_count: number };
  readonly error?: { readonly code: string; readonly message: string; readonly session_id?: string };
}

function resultsOf({ out }: Pick<Outcome, 'out'>): readonly Result[] {
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

async function results(stdin: string | Uint8Array, words: readonly string[] = [], options: RunOptions = {}) {
  const outcome = await place.parley([...batch, ...words], { ...options, stdin });
  return { ...outcome, results: resultsOf(outcome) };
}

describe.concurrent('a batch', () => {
  test('answers each line in order, and ends with 0', async () => {
    const { status, err, results: answered } = await results('one\r\n\n{"message":"two","id":"b"}\nthree');
    expect({ status, err }).toEqual({ status: 0, err: '3 answered.\n' });
    expect(answered.map(({ id, success, data }) => [id, success, data?.reply])).toEqual([
      [1, true, 'one'],
      ['b', true, 'two'],
      [4, true, 'three'],
    ]);
    expect(new Set(answered.map(({ data }) => data?.session_id)).size).toBe(3);
  });

  test("has the answer's data, whole", async () => {
    const [result] = (await results('one')).results;
    const alone = await place.answer<object>(['chat', '-n', '-m', 'echo', 'one']);
    expect(Object.keys(result?.data ?? {}).toSorted()).toEqual(Object.keys(alone).toSorted());
  });

  test('goes on past lines that fail, and ends with 3', async () => {
    const lines = [
      '{"message":"a","mode":"none"}',
      '{"message":"b","session_id":"ses_none"}',
      '{oops',
      '{"message":"d","id":"x","more":1}',
      'e'.repeat(mebibyte + 1),
      '{"message":"f","id":"1"}',
      'g',
    ];
    const { status, err, results: answered } = await results(lines.join('\n'));
    expect({ status, err }).toEqual({ status: 3, err: '1 answered, 6 failed.\n' });
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
    expect(answered[5]?.error?.message).toContain('the id "1" stood before');
  });

  test('of nothing answers nothing', async () => {
    expect(await results('')).toMatchObject({ status: 0, out: '' });
    expect(await place.parley(batch)).toMatchObject({ status: 0, out: '' });
  });

  test('answers a line as soon as it comes', async () => {
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

  test('keeps the order of the lines of a session, and says them in it', async () => {
    const id = (await place.output(['sessions', 'create'])).trim();
    const lines = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? `other ${index}` : JSON.stringify({ message: `turn ${index}`, session_id: id }),
    );
    const { status } = await results(lines.join('\n'), ['--concurrency', '8']);
    expect(status).toBe(0);
    const { items } = await place.answer<Page<Message>>(['sessions', 'messages', id]);
    expect(items.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
      Array.from({ length: 30 }, (_, index) => index)
        .filter((index) => index % 3 !== 0)
        .map((index) => `turn ${index}`),
    );
  });

  test('--in-session makes all lines turns of one session: a new one, with its title, or a given one', async () => {
    const fresh = await results('a\nb\nc', ['--in-session', '--title', 'Together']);
    const ids = new Set(fresh.results.map(({ data }) => data?.session_id));
    expect(fresh.results.map(({ data }) => data?.message_count)).toEqual([2, 4, 6]);
    const [id = ''] = ids;
    expect(ids.size).toBe(1);
    const again = await results('d\n{"message":"e","title":"t"}\nf', ['--in-session', '-s', id]);
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
    const { results: answered } = await results('{"message":"a","title":"Mine"}');
    const { title } = await place.answer<Session>(['sessions', 'get', answered[0]?.data?.session_id ?? '']);
    expect(title).toBe('Mine');
  });

  test('leaves the session that -c goes on with as it was', async () => {
    const own = new Place();
    try {
      const before = (await own.output(['sessions', 'create'])).trim();
      await own.output(batch, { stdin: 'a\nb' });
      const { session_id } = await own.answer<{ session_id: string }>([
        'chat',
        '-c',
        '-n',
        '-m',
        'echo',
        'x',
      ]);
      expect(session_id).toBe(before);
    } finally {
      own.remove();
    }
  });

  test('holds a line of 200 MB only as a failure', async () => {
    const script = `(head -c 200M /dev/zero | tr '\\0' x; printf '\\nnext\\n') | parley chat --batch -m echo`;
    const outcome = await place.shell(`${script} & wait $!; exit $?`);
    expect(outcome.status).toBe(3);
    expect(resultsOf(outcome).map(({ error, data }) => error?.code ?? data?.reply)).toEqual([
      'PAYLOAD_TOO_LARGE',
      'next',
    ]);
  });

  test('ends quietly when its reader has enough', async () => {
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

  test.each(['--concurrency=2', '--in-session', '--resume=x', '--progress'])('alone has %s', async (word) => {
    expectFailure(await place.parley(['chat', '-n', '-m', 'echo', 'a', word]), { status: 2, code: 'USAGE' });
  });
});

describe('a batch at a server', () => {
  type Answer = (request: ReceivedRequest, response: ServerResponse, count: number) => unknown;
  const servers: ScriptedServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  async function at(answer: Answer) {
    const server = await serve(answer);
    servers.push(server);
    return { server, env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'key' } };
  }

  function echo({ body }: ReceivedRequest, response: ServerResponse) {
    const { message } = JSON.parse(body);
    sendJson(response, { success: true, session_id: `ses_${message}`, answer: message, data: { extra: 1 } });
  }

  test("asks for whole answers, and gives a stranger's in the form of our own, its data with it", async () => {
    const { server, env } = await at(echo);
    const { results: answered } = await results('a', [], { env });
    expect(answered).toEqual([
      { id: 1, success: true, data: { session_id: 'ses_a', mode: 'echo', reply: 'a', extra: 1 } },
    ]);
    expect(server.requests[0]?.headers.accept).toBe('application/json');
  });

  test('keeps its concurrency, and the order of its lines, whatever is answered first', async () => {
    let running = 0;
    let most = 0;
    const { env } = await at(async (request, response, count) => {
      running += 1;
      most = Math.max(most, running);
      await delay(count % 3 === 0 ? 1 : 40);
      running -= 1;
      echo(request, response);
    });
    const lines = Array.from({ length: 24 }, (_, index) => `line${index}`);
    const { results: answered } = await results(lines.join('\n'), ['--concurrency', '6'], { env });
    expect(answered.map(({ data }) => data?.reply)).toEqual(lines);
    expect(most).toBe(6);
  });

  test('waits as long as it is told, and sends again under the same key', async () => {
    const turnedAway = new Set<string>();
    const times: number[] = [];
    const { server, env } = await at((request, response) => {
      const { message } = JSON.parse(request.body);
      if (message !== 'b' || turnedAway.has(message)) return echo(request, response);
      turnedAway.add(message);
      times.push(performance.now());
      response.setHeader('Retry-After', '1');
      return sendJson(response, { success: false, error: { code: 'RATE_LIMITED', message: 'Slower.' } }, 429);
    });
    const { status, results: answered } = await results('a\nb\nc', [], { env });
    expect(status).toBe(0);
    expect(answered.map(({ data }) => data?.reply)).toEqual(['a', 'b', 'c']);
    const ofB = server.requests.filter(({ body }) => JSON.parse(body).message === 'b');
    expect(ofB.length).toBe(2);
    expect(ofB[1]?.headers['idempotency-key']).toBe(ofB[0]?.headers['idempotency-key']);
    expect(performance.now() - (times[0] ?? 0)).toBeGreaterThan(1000);
  });

  test('that refuses the key is asked no more, and the batch ends with 4', async () => {
    const refusals: ServerResponse[] = [];
    let echoed = 0;
    const { server, env } = await at((request, response) => {
      if (/"line[01]"/.test(request.body)) {
        response.on('finish', () => (echoed += 1));
        echo(request, response);
      } else refusals.push(response);
      // A refusal stops the batch: not before the first two are answered, whichever of them came first.
      const body = { success: false, error: { code: 'INVALID_API_KEY', message: 'No.' } };
      setTimeout(() => {
        if (echoed === 2) for (const refused of refusals.splice(0)) sendJson(refused, body, 401);
      }, 50);
    });
    const lines = Array.from({ length: 500 }, (_, index) => `line${index}`).join('\n');
    const { status, err, results: answered } = await results(lines, ['--concurrency', '2'], { env });
    expect(status).toBe(4);
    expect(err).toContain('(INVALID_API_KEY)');
    expect(err).toContain('parley chat --batch --resume OUTPUT < INPUT');
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(answered.slice(0, 2).map(({ success }) => success)).toEqual([true, true]);
    expect(answered.length).toBeLessThanOrEqual(4);
  });

  test('that is not there ends it with 6 after some lines, not after all', async () => {
    const { server, env } = await at(echo);
    await server.close();
    const { status, results: answered } = await results('line\n'.repeat(2000), ['--concurrency', '8'], {
      env,
    });
    expect(status).toBe(6);
    expect(answered.length).toBeLessThan(100);
    expect(answered[0]?.error?.code).toBe('NETWORK');
  });

  test('is stopped by Ctrl-C within a moment, its open lines marked, and can go on', async () => {
    const output = join(place.path, 'stopped.ndjson');
    let holds = true;
    const { server, env } = await at((request, response) => {
      const { message } = JSON.parse(request.body);
      if (holds && message === 'c') return undefined;
      return echo(request, response);
    });
    const child = place.start([...batch, '--concurrency', '2'], env);
    const ended = outcomeOf(child);
    child.stdin.write('a\nb\nc\nd\ne\n');
    while (server.requests.length < 5) await delay(5);
    await delay(50);
    child.kill('SIGINT');
    const first = await ended;
    expect(first.status).toBe(130);
    expect(first.err).toContain('Stopped: 4 answered, 1 stopped.');
    expectNoStackTrace(first.err);
    expect(resultsOf(first).map(({ id, error }) => [id, error?.code])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, 'INCOMPLETE_REPLY'],
      [4, undefined],
      [5, undefined],
    ]);
    holds = false;
    writeFileSync(output, first.out);
    const { status, out } = await results('a\nb\nc\nd\ne\nf\n', ['--resume', output], { env });
    expect({ status, out }).toEqual({ status: 0, out: '' });
    const ids = resultsOf({ out: readFileSync(output, 'utf8') }).map(({ id, success }) => [id, success]);
    expect(ids).toEqual([1, 2, 4, 5, 3, 6].map((id) => [id, true]));
    expect(server.requests.length).toBe(7);
  });
});

describe('a resumed batch', () => {
  const file = join(place.path, 'out.ndjson');
  const answered = (id: unknown) => `${JSON.stringify({ id, success: true, data: { reply: 'before' } })}\n`;
  const failed = (id: unknown) => `${JSON.stringify({ id, success: false, error: { code: 'NETWORK' } })}\n`;
  const resumed = () =>
    resultsOf({ out: readFileSync(file, 'utf8') }).map(({ id, data }) => [id, data?.reply]);

  async function resume(stdin: string, words: readonly string[] = []) {
    return place.parley([...batch, '--resume', file, ...words], { stdin });
  }

  test('skips what is answered, does again what failed, and drops a half last line', async () => {
    writeFileSync(file, `${answered(1)}${failed(2)}${answered('x')}{"id":4,"suc`, { mode: 0o640 });
    const { status, out, err } = await resume('a\nb\n{"message":"c","id":"x"}\nd\n');
    expect({ status, out }).toEqual({ status: 0, out: '' });
    expect(err).toContain('2 answered, 2 answered before.');
    expect(resumed()).toEqual([
      [1, 'before'],
      ['x', 'before'],
      [2, 'b'],
      [4, 'd'],
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test('is refused while another process adds to the same file', async () => {
    const own = join(place.path, 'held.ndjson');
    const child = place.start([...batch, '--resume', own]);
    const ended = outcomeOf(child);
    child.stdin.write('a\n');
    while (!existsSync(own) || readFileSync(own, 'utf8') === '') await delay(20);
    const second = await place.parley([...batch, '--resume', own], { stdin: 'a\nb\n' });
    expectFailure(second, { status: 7, code: 'STORE_BUSY' });
    child.stdin.end('b\n');
    expect((await ended).status).toBe(0);
    expect(resultsOf({ out: readFileSync(own, 'utf8') }).map(({ id }) => id)).toEqual([1, 2]);
    expect((await place.parley([...batch, '--resume', own], { stdin: 'a\nb\n' })).status).toBe(0);
  });

  test('drops a half last line alone where nothing failed, and keeps a whole one without its line end', async () => {
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

  test('begins in a file that is not there yet, and is done when it is done', async () => {
    rmSync(file);
    expect((await resume('a\nb')).status).toBe(0);
    const whole = readFileSync(file, 'utf8');
    expect((await resume('a\nb')).err).toContain('0 answered, 2 answered before.');
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  test('goes on in the session of the first run', async () => {
    rmSync(file);
    await resume('a\nb', ['--in-session']);
    await resume('a\nb\nc', ['--in-session']);
    const made = resultsOf({ out: readFileSync(file, 'utf8') });
    expect(new Set(made.map(({ data }) => data?.session_id)).size).toBe(1);
    expect(made.map(({ data }) => data?.message_count)).toEqual([2, 4, 6]);
  });

  test('sends a line that was under way under its former key: its turn is found, not said again', async () => {
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
  ])('leaves a file as it is that %s', async (_fact, text, said) => {
    writeFileSync(file, text);
    const outcome = await resume('a\nb');
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain(said);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('refuses what is no file', async () => {
    for (const path of [place.path, '/dev/null']) {
      const outcome = await place.parley([...batch, '--resume', path], { stdin: 'a' });
      expectFailure(outcome, { status: 2, code: 'USAGE' });
    }
  });

  test('may be appended to by the shell as well: no result stands there twice', async () => {
    writeFileSync(file, answered(1));
    appendFileSync(file, failed(2));
    await place.shell('printf "a\\nb\\n" | parley chat --batch -m echo --resume out.ndjson >> out.ndjson');
    expect(resumed()).toEqual([
      [1, 'before'],
      [2, 'b'],
    ]);
  });
});

describe('progress', () => {
  test('is a line that is drawn again, with count, rate and time left, on a terminal', async () => {
    const { out } = await place.terminal(
      'stty cols 80; seq 1 2000 > in.txt; parley chat --batch -m echo < in.txt > out.txt; wc -l < out.txt',
    );
    expect(out).toMatch(/\r\d+ answered, \d+ a second, \d+ s left/);
    expect(out).toMatch(/2000 answered\.\n2000\n$/);
  });

  test('does not tell the time left where the end of the input is not known', async () => {
    const { out } = await place.terminal(
      'stty cols 80; (seq 1 100; sleep 1; echo x) | parley chat --batch -m echo > out.txt',
    );
    expect(out).toMatch(/\r\d+ answered, \d+ a second/);
    expect(out).not.toContain('left');
  });
});
