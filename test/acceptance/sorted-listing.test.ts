// `sessions list --sort` and `--reverse`, embedded and served: every order, every page and every filter; and commands over all sessions miss none
// if sessions change meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { serve } from '../support/scripted-server.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);
const minute = (number: number) => new Date(Date.UTC(2024, 4, 1, 12, number)).toISOString();

/** Two are created at the same time. A later one was active earlier, except `e`. */
const made = [
  { session_id: 'ses_a', title: 'one', created_at: minute(1), updated_at: minute(30) },
  { session_id: 'ses_b', title: 'two', created_at: minute(1), updated_at: minute(29) },
  { session_id: 'ses_c', title: 'one', created_at: minute(2), updated_at: minute(28) },
  { session_id: 'ses_d', title: 'two', created_at: minute(2), updated_at: minute(28) },
  { session_id: 'ses_e', title: 'one', created_at: minute(3), updated_at: minute(40) },
];

const orders: readonly (readonly [flags: readonly string[], letters: string])[] = [
  [[], 'eabdc'],
  [['--sort', 'updated'], 'eabdc'],
  [['--reverse'], 'cdbae'],
  [['--sort', 'created'], 'edcba'],
  [['--sort', 'created', '--reverse'], 'abcde'],
];

const place = new PlaceInProcess();
let served: ServedPlace;
let far: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  const { key } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'sorted', '--use']);
  const records = made.map((session) =>
    JSON.stringify({ session: { ...session, message_count: 0 }, messages: [] }),
  );
  await place.output(['sessions', 'import', '-'], { stdin: `${records.join('\n')}\n` });
  served = await servePlace(place);
  far = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
});
afterAll(async () => {
  await served.end('SIGTERM');
  place.remove();
});

describe.each(['embedded', 'served'])('a listing, %s,', (where) => {
  const env = () => (where === 'served' ? far : {});
  const list = (...words: readonly string[]) => place.parley(['sessions', 'list', ...words], { env: env() });
  const letters = (out: string) =>
    lines(out)
      .map((line) => line.slice(4, 5))
      .join('');

  test.each(orders)('with %j is in that order', async (flags, expected) => {
    const { status, out, err } = await list(...flags);
    expect({ status, err, letters: letters(out) }).toEqual({ status: 0, err: '', letters: expected });
    expect(letters((await list(...flags, '--ids')).out)).toBe(expected);
  });

  test.each(orders)(
    'with %j continues in that order with the command that it prints',
    async (flags, expected) => {
      let command = `parley sessions list --limit 2 ${flags.join(' ')}`;
      const pages: string[] = [];
      for (; command !== '' && pages.length < 9; ) {
        const [, ...words] = command.trim().split(/ +/);
        // Words without quotation marks are the same without a shell.
        const { out, err } = /^[\w .=-]*$/.test(command)
          ? await place.parley(words, { env: env() })
          : await place.shell(command, env());
        pages.push(letters(out));
        command = /continue with: (parley .*)\n/.exec(err)?.[1] ?? '';
      }
      expect(pages).toEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4)]);
    },
  );

  test('accepts every filter in another order, too', async () => {
    const sorted = ['--sort', 'created', '--reverse'];
    expect(letters((await list(...sorted, '--title-match', 'o*')).out)).toBe('ace');
    expect(letters((await list(...sorted, '--older-than', minute(30))).out)).toBe('bcd');
    expect(letters((await list(...sorted, '--newer-than', minute(29))).out)).toBe('abe');
    expect(letters((await list('--reverse', '--newer-than', minute(29))).out)).toBe('bae');
    expect((await list(...sorted, '--deleted')).out).toBe('');
  });

  test('shows the time that it is sorted by, and both times in JSON', async () => {
    const times = (out: string) => lines(out).map((line) => line.split('\t')[2]);
    expect(times((await list('--reverse')).out)).toEqual([28, 28, 29, 30, 40].map(minute));
    expect(times((await list('--sort', 'created', '--reverse')).out)).toEqual([1, 1, 2, 2, 3].map(minute));
    const { data } = JSON.parse((await list('--sort', 'created', '--limit', '1', '--json')).out);
    expect(data.items).toMatchObject([{ ...made[4], message_count: 0 }]);
  });

  test('refuses the cursor of another order with an error that says so', async () => {
    const { out } = await list('--sort', 'created', '--limit', '1', '--json');
    const cursor = JSON.parse(out).data.next_cursor;
    const refused = await list('--cursor', cursor);
    expect(refused).toMatchObject({ status: 2, out: '' });
    expect(refused.err).toMatch(/The cursor is not one of this listing\..*same sort and order/s);
    expect(refused.err).toContain('(INVALID_REQUEST)');
    expect(letters((await list('--sort', 'created', '--cursor', cursor)).out)).toBe('dcba');
  });
});

test('an unknown sort is refused, and the choices are named', async () => {
  const refused = await place.parley(['sessions', 'list', '--sort', 'size']);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('updated, created');
});

test('--debug prints a request with the order if it is not the default', async () => {
  const asked = async (...words: readonly string[]) =>
    /\/v1\/sessions\?\S*/.exec(
      (await place.parley(['sessions', 'list', '--debug', ...words], { env: far })).err,
    )?.[0];
  expect(await asked('--sort', 'created', '--reverse')).toContain('sort=created&order=asc');
  expect(await asked('--sort', 'updated')).not.toMatch(/sort|order/);
});

test('on a terminal the column has the title of its time', async () => {
  expect((await place.terminal('parley sessions list')).out).toContain('LAST ACTIVITY');
  const { out } = await place.terminal('parley sessions list --sort created');
  expect(out).toContain('CREATED');
  expect(out).not.toContain('LAST ACTIVITY');
});

test.each([
  ['an export of all', ['sessions', 'export', '--all', '--format', 'json']],
  ['a deletion of all', ['sessions', 'delete', '--all', '--dry-run']],
])(
  '%s misses no session that becomes active while it is paged through',
  async (_, words) => {
    const { key } = await place.answer<CreatedKey>(['keys', 'create', '--project', words[1] ?? '']);
    const records = Array.from({ length: 8 }, (_, number) => ({
      session_id: `ses_${words[1]}_${number}`,
      title: null,
      created_at: minute(number),
      updated_at: minute(number),
      message_count: 0,
    }));
    const file = records.map((session) => `${JSON.stringify({ session, messages: [] })}\n`).join('');
    await place.output(['sessions', 'import', '-'], {
      stdin: file,
      env: { PARLEY_URL: served.url, PARLEY_API_KEY: key },
    });
    let pages = 0;
    const between = await serve(async ({ method, path, headers, body }, response) => {
      const authorization = String(headers.authorization);
      const post = { method: 'POST', headers: { authorization, 'content-type': 'application/json' } };
      // Small pages, so that a few sessions make two.
      const target = path.replace(/limit=\d+/, 'limit=5');
      if (path.startsWith('/v1/sessions?') && ++pages === 2) {
        const turn = { mode: 'echo', message: 'again', session_id: records[0]?.session_id };
        await fetch(`${served.url}/v1/chat`, { ...post, body: JSON.stringify(turn) });
      }
      const answer = await fetch(
        `${served.url}${target}`,
        method === 'GET' ? { headers: { authorization } } : { ...post, body },
      );
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        'parley-extensions': answer.headers.get('parley-extensions') ?? '',
      });
      response.end(await answer.text());
    });
    try {
      const env = { PARLEY_URL: between.url, PARLEY_API_KEY: key };
      expect(lines((await place.binary(words, { env })).out)).toHaveLength(8);
      expect(pages).toBe(2);
    } finally {
      await between.close();
    }
  },
  120_000,
);

test('an empty listing names the archived sessions if there are any, else the deleted ones', async () => {
  const hidden = removeAfterTest(new PlaceInProcess());
  const ids = [
    (await hidden.output(['sessions', 'create'])).trim(),
    (await hidden.output(['sessions', 'create'])).trim(),
  ] as const;
  const listed = async () => {
    const { status, out, err } = await hidden.parley(['sessions', 'list']);
    expect({ status, out }).toEqual({ status: 0, out: '' });
    return err;
  };
  await hidden.output(['sessions', 'delete', ids[0]]);
  await hidden.output(['sessions', 'archive', ids[1]]);
  expect(await listed()).toBe('All sessions are archived. See: parley sessions list --archived\n');
  await hidden.output(['sessions', 'delete', ids[1]]);
  expect(await listed()).toBe('All sessions are deleted. See: parley sessions list --deleted\n');
});

test('an empty listing says on stderr whether there are no sessions or none that match', async () => {
  const empty = removeAfterTest(new PlaceInProcess());
  await empty.output(['models']);
  const listed = async (...flags: string[]) => {
    const { status, out, err } = await empty.parley(['sessions', 'list', ...flags]);
    expect({ status, out }).toEqual({ status: 0, out: flags.includes('--json') ? out : '' });
    return err;
  };
  for (const flags of [[], ['--all'], ['--reverse']]) {
    expect(await listed(...flags)).toBe('There are no sessions yet.\n');
  }
  for (const flags of [
    ['--title-match', 'x*'],
    ['--older-than', '1d'],
    ['--newer-than', '1d'],
    ['--deleted'],
  ]) {
    expect(await listed(...flags)).toBe('No session matches.\n');
  }
  // A command that reads ids from a pipe reports an empty list itself.
  for (const flag of ['--quiet', '--json', '--ids']) expect(await listed(flag)).toBe('');
});
