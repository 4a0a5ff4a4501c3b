// `--jq` in the real program: what it prints, when it is refused, and that it filters every value.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
let first = '';
let second = '';
beforeAll(async () => {
  first = (await place.output(['sessions', 'create', '--title', 'one\u202e'])).trim();
  second = (await place.output(['sessions', 'create'])).trim();
});
afterAll(() => place.remove());

/** For bash: waits until the last started process has used half a second of a core, which is more than its start. */
const untilBusy =
  'for _ in {1..200}; do read -ra its < /proc/$!/stat || break; ((its[13] > 50)) && break; sleep 0.05; done 2> /dev/null;';

describe('--jq', () => {
  test('prints strings unquoted and other values as compact JSON, one per line', async () => {
    const filter = '"  a\\u0000\\u202eb\\n ", [1, {a: null}], true, 12345678901234567890123';
    const out = await place.output(['models', '--jq', filter]);
    expect(out).toBe('  a\0\u202eb\n \n[1,{"a":null}]\ntrue\n12345678901234567890123\n');
  });

  test('implies --json, and stands before the command as well as after it', async () => {
    // The filter begins with a minus, and one of its inputs gives no output.
    const filter = '-1 - (.data | length), empty, .data[].name';
    expect(await place.output(['--jq', filter, 'models'])).toBe('-3\neliza\necho\n');
    expect(await place.output(['chat', '-n', '-m', 'echo', 'é "x"', '--jq=.data.reply'])).toBe('é "x"\n');
  });

  test('filters each line, also failures, and keeps dangerous characters escaped in JSON', async () => {
    const args = [
      'sessions',
      'get',
      first,
      'nope',
      second,
      '--jq',
      '[.session_id // .data.session_id, .success, .data.title]',
    ];
    const { status, out } = await place.parley(args);
    expect(out).toBe(`["${first}",true,"one\\u202e"]\n["nope",false,null]\n["${second}",true,null]\n`);
    expect(status).toBe(3);
  });

  test('knows the variables of the environment that it names', async () => {
    const value = 'é "x" \\(1) 日\n';
    const env = { WANTED: value, OTHER: undefined };
    const filter =
      'def own: env; [env.WANTED, $ENV["WANTED"], own.WANTED, env.OTHER, env.HOME == "/home/web_user", input?]';
    const out = await place.output(['models', '--jq', filter], { env });
    expect(JSON.parse(out)).toEqual([value, value, value, null, false]);
  });

  test('filters the events of --json-stream', async () => {
    const out = await place.output(['chat', '-n', '-m', 'echo', 'a b', '--json-stream', '--jq', '.event']);
    expect(out).toMatch(/^session\n(delta\n)+done\n$/);
  });

  test('filters the body of a failure, and the status stays', async () => {
    const { status, out, err } = await place.parley(['sessions', 'get', 'nope', '--jq', '.error.code']);
    expect({ status, out }).toEqual({ status: 5, out: 'SESSION_NOT_FOUND\n' });
    expect(err).toContain('(SESSION_NOT_FOUND)');
    const wrong = await place.parley(['sessions', 'frob', '--jq', '.error.code']);
    expect({ status: wrong.status, out: wrong.out }).toEqual({ status: 2, out: 'USAGE\n' });
  });

  test.each([
    ['.data[', 'unexpected end of file'],
    ['import "x" as x; .', 'module not found'],
  ])('refuses the filter %s with the words of jq', async (filter, words) => {
    const outcome = await place.parley(['models', '--jq', filter]);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain(words);
  });

  test('refuses an invalid filter before any call, and creates no store for it', async () => {
    const server = await serve((_request, response) => sendJson(response, { success: true, data: {} }));
    const env = { PARLEY_API_KEY: 'k' };
    const { status } = await place.parley(['sessions', 'delete', 'a', '--url', server.url, '--jq', '.['], {
      env,
    });
    expect({ status, requests: server.requests.length }).toEqual({ status: 2, requests: 0 });
    await server.close();
    const fresh = new Place();
    expect((await fresh.parley(['models', '--jq', '.['])).status).toBe(2);
    expect(existsSync(fresh.dataDirectory)).toBe(false);
    fresh.remove();
  });

  test('does the work although the filter fails on some results, prints the others, and reports it once', async () => {
    const ids = [first, second, 'nope'];
    const filter = 'if .status == "deleted" then .status.x else .status end';
    const { status, out, err } = await place.parley(['sessions', 'delete', ...ids, '--yes', '--jq', filter]);
    expect({ status, out }).toEqual({ status: 3, out: 'not_found\n' });
    expect(err).toContain('failed on 2 values: Cannot index string with string "x". (FILTER_FAILED)');
    const restored = await place.parley(['sessions', 'restore', first, second, '--jq', '.status.x?']);
    expect(restored).toMatchObject({ status: 0, out: '' });
    const failing = await place.parley(['models', '--jq', '.data[0].name, .data.x']);
    expect({ status: failing.status, out: failing.out }).toEqual({ status: 1, out: 'eliza\n' });
  });

  test('sees one value at a time', async () => {
    const filter = '[inputs], input_line_number, (try input catch .), 1, halt, 2';
    const seen = '[]\n0\nNo more inputs\n1\n';
    expect(
      await place.output(['sessions', 'delete', 'a', 'b', '--dry-run', '--ignore-missing', '--jq', filter]),
    ).toBe(seen + seen);
  });

  test('passes seven thousand lines in their order, in several runs of jq', async () => {
    // A run takes 256 KiB at most; these are half as much again.
    const ids = Array.from({ length: 7_000 }, (_, index) => `ses_${index}`);
    const stdin = `${ids.join('\n')}\n`;
    const words = ['sessions', 'delete', '-', '--dry-run', '--ignore-missing', '--jq', '.session_id'];
    const out = await place.output(words, { stdin });
    expect(out === stdin).toBe(true);
  });

  test('an endless filter is ended by each of the signals that end a command', async () => {
    const cases = [
      ['def forever: forever; forever', 'INT', 130],
      ['last(repeat(1))', 'TERM', 143],
      ['last(repeat(1))', 'HUP', 129],
    ] as const;
    const run = async ([filter, signal, status]: (typeof cases)[number]) => {
      const script = `parley models --jq '${filter}' & ${untilBusy} kill -${signal} $!; wait $!`;
      expect(await place.shell(`set -m; ${script}`)).toMatchObject({ status, out: '' });
    };
    await Promise.all(cases.map(run));
  });

  test('a batch is completed although an endless filter blocks its results, and names the command that undoes it', async () => {
    const script = `parley sessions delete ${first} ${second} --yes --jq 'last(repeat(1))' & ${untilBusy} kill -TERM $!; wait $!`;
    const { status, out, err } = await place.shell(`set -m; ${script}`);
    expect([status, out]).toEqual([143, '']);
    const [, batch = ''] = /parley sessions restore --batch (\S+)/.exec(err) ?? [];
    expect(await place.output(['sessions', 'restore', '--batch', batch])).toBe(
      `restored ${first}\nrestored ${second}\n`,
    );
  });

  test('a filter that exceeds its memory limit fails with an error that says so', async () => {
    const outcome = await place.parley(['models', '--jq', 'reduce range(40) as $step ("x"; . + .)']);
    expectFailure(outcome, { status: 1, code: 'FILTER_FAILED' });
    expect(outcome.err).toContain('cannot allocate memory');
  });

  test('prints results while the command runs', async () => {
    const child = place.start(['serve', '--port', '0', '--jq', '.data.url']);
    const [line] = await new Promise<string[]>((resolve) => {
      child.stdout.once('data', (piece: Buffer) => resolve(piece.toString().split('\n')));
    });
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
  });
});
