// Hundreds of sessions: listing all, deleting some by argument, pipe or listing, and restoring them.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { Page, Session } from '../../src/service/session.ts';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { makeSessions } from '../support/stored.ts';

const missing = 'ses_01m7yt10msccamajvw809w7d4v';
const lines = (text: string) => text.split('\n').slice(0, -1);

describe('a list', () => {
  const place = new PlaceInProcess();
  let ids: readonly string[] = [];
  beforeAll(async () => {
    await place.output(['models']);
    ids = await makeSessions(place, 450, 'kept');
  });
  afterAll(() => place.remove());

  test('has the first 50, and says that there are more', async () => {
    const { out, err } = await place.parley(['sessions', 'list']);
    expect(lines(out).length).toBe(50);
    expect(err).toMatch(/--all.*--cursor \S+/);
  });

  test('has all of them with --ids, unless --limit is given, so that a pipe gets no partial list', async () => {
    const { out, err } = await place.parley(['sessions', 'list', '--ids']);
    expect(lines(out).sort()).toEqual([...ids].sort());
    expect(err).toBe('');
    const few = await place.parley(['sessions', 'list', '--ids', '--limit', '3']);
    expect(lines(few.out).length).toBe(3);
    expect(few.err).toContain('--limit 3 --ids --cursor ');
  });

  test('has all of them with --all, each once', async () => {
    const all = lines(await place.output(['sessions', 'list', '--all', '--ids']));
    expect([...all].sort()).toEqual([...ids].sort());
    const { out, err } = await place.parley(['sessions', 'list', '--all', '--json']);
    const pages = lines(out).map((line) => JSON.parse(line));
    expect(pages.map(({ success, data }) => [success, data.items.length])).toEqual([
      [true, 200],
      [true, 200],
      [true, 50],
    ]);
    expect(err).toBe('');
    expect(pages.flatMap(({ data }) => data.items.map((item: Session) => item.session_id))).toEqual(all);
  });

  test('continues page by page with cursors', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page<Session> = await place.answer([
        'sessions',
        'list',
        '--limit',
        '190',
        ...(cursor ? ['--cursor', cursor] : []),
      ]);
      seen.push(...page.items.map(({ session_id }) => session_id));
      cursor = page.next_cursor;
    }
    expect([...seen].sort()).toEqual([...ids].sort());
  });

  test.each([
    ['kept 7', 1],
    ['kept 7?', 10],
    ['kept [12]*', 222],
    ['KEPT*', 0],
    ['7', 0],
  ])('has the titles that match %s: %i', async (glob, count) => {
    expect(
      lines(await place.output(['sessions', 'list', '--all', '--ids', '--title-match', glob])).length,
    ).toBe(count);
  });

  test('has only the deleted ones with --deleted', async () => {
    const [one = '', other = ''] = ids;
    await place.output(['sessions', 'delete', one, other, '--yes']);
    expect(lines(await place.output(['sessions', 'list', '--deleted', '--ids'])).sort()).toEqual(
      [one, other].sort(),
    );
    expect(lines(await place.output(['sessions', 'list', '--all', '--ids']))).not.toContain(one);
    const back = await place.shell('parley sessions list --deleted --ids | parley sessions restore -');
    expect(back.status).toBe(0);
    expect(lines(back.out).sort()).toEqual([`restored ${one}`, `restored ${other}`].sort());
  });
});

describe('deleting', () => {
  let place: PlaceInProcess;
  let ids: readonly string[] = [];
  let a = '';
  let b = '';
  beforeEach(async () => {
    place = new PlaceInProcess();
    await place.output(['models']);
    ids = await makeSessions(place, 4);
    [a = '', b = ''] = ids;
  });
  afterEach(() => place.remove());

  async function left(): Promise<readonly string[]> {
    return lines(await place.output(['sessions', 'list', '--ids'])).reverse();
  }

  test('by argument prints the result of each', async () => {
    expect(await place.parley(['sessions', 'delete', a])).toMatchObject({ status: 0, out: `deleted ${a}\n` });
    const { status, out, err } = await place.parley(['sessions', 'delete', a, b, missing, b, '--yes']);
    expect({ status, out }).toEqual({
      status: 3,
      out: `not_found ${a}\ndeleted ${b}\nnot_found ${missing}\nduplicate ${b}\n`,
    });
    expect(err).toMatch(
      /^1 session deleted, 2 not found, 1 duplicate\.\nTo undo it: parley sessions restore --batch \S+\n$/,
    );
    expect(await left()).toEqual(ids.slice(2));
  });

  test('with --json prints a line of JSON per session, also for one', async () => {
    expect(await place.output(['sessions', 'delete', a, '--json'])).toBe(
      `{"session_id":"${a}","status":"deleted"}\n`,
    );
    const { out } = await place.parley(['sessions', 'delete', a, b, '--yes', '--json']);
    expect(lines(out).map((line) => JSON.parse(line))).toEqual([
      { session_id: a, status: 'not_found' },
      { session_id: b, status: 'deleted' },
    ]);
    const one = await place.parley(['sessions', 'delete', a, '--json']);
    expect(one.status).toBe(5);
    expect(JSON.parse(one.out)).toEqual({
      session_id: a,
      status: 'not_found',
      error: { code: 'SESSION_NOT_FOUND', message: expect.any(String) },
    });
  });

  test('reads one id per line: with a byte order mark, CRLF, comments, blanks, repetitions and JSON', async () => {
    const stdin = `\ufeff${a}\r\n\r\n# the next\r\n  ${b}\n{"session_id":"${ids[2]}","title":"x"}\n${a}`;
    const { status, out } = await place.parley(['sessions', 'delete', '-', '--yes'], { stdin });
    expect({ status, out }).toEqual({
      status: 0,
      out: `deleted ${a}\ndeleted ${b}\ndeleted ${ids[2]}\nduplicate ${a}\n`,
    });
    expect(await left()).toEqual([ids[3]]);
  });

  test('reads a pipe without an option, and the lines of a listing', async () => {
    const { status } = await place.shell(
      `parley sessions list --json | tr -d '\\n' | sed 's/.*"items":\\[//; s/\\],"next_cursor.*//; s/},{/}\\n{/g' | parley sessions delete --yes`,
    );
    expect(status).toBe(0);
    expect(await left()).toEqual([]);
  });

  test.each([
    ['a line with a space', (id: string) => `${id}\nses_a b\n${id}`, 'line 2'],
    ['a listing with all its columns', (id: string) => `${id}\t2\tx`, 'line 1'],
    ['JSON that is none', (id: string) => `${id}\n\n{"session_id":`, 'line 3'],
    ['JSON without an id', (id: string) => `${id}\n{"id":"x"}`, 'line 2'],
    ['JSON with an id that is none', () => `{"session_id":".."}`, 'line 1'],
    [
      'an id cut in two by a NUL',
      (id: string) => `${id}\0x`,
      'line 1 of standard input has a nul byte at column 31',
    ],
  ])('deletes nothing at all because of %s', async (_name, stdin, problem) => {
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes', '--json'], { stdin: stdin(a) });
    expect(outcome.status).toBe(2);
    expect(outcome.err.toLowerCase()).toContain(problem);
    expect(await left()).toEqual(ids);
  });

  test('needs --yes for several if nobody can be asked, and not for one that is given twice', async () => {
    const refused = await place.parley(['sessions', 'delete', '-'], { stdin: `${a}\n${b}\n` });
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toMatch(/2 sessions of project default.*--yes/s);
    expectJsonFailure(await place.parley(['sessions', 'delete', a, b, '--json']), {
      status: 2,
      code: 'USAGE',
    });
    expect(await left()).toEqual(ids);
    expect((await place.parley(['sessions', 'delete', a, a])).status).toBe(0);
  });

  test('with --dry-run shows what would be deleted, and deletes nothing', async () => {
    expect(await place.output(['sessions', 'delete', a, b, a, '--dry-run'])).toBe(
      `would_delete ${a}\nwould_delete ${b}\nduplicate ${a}\n`,
    );
    const json = await place.output(['sessions', 'delete', a, b, '--dry-run', '--json']);
    expect(lines(json).map((line) => JSON.parse(line))).toEqual([
      { session_id: a, status: 'would_delete' },
      { session_id: b, status: 'would_delete' },
    ]);
    expect(await left()).toEqual(ids);
  });

  test('of an empty listing succeeds, while a command without ids is refused', async () => {
    const nothing = await place.shell(
      'parley sessions list --ids --older-than 900d | parley sessions delete - --yes',
    );
    expect(nothing).toMatchObject({ status: 0, out: '' });
    expect(nothing.err).toBe('Standard input has no ids: nothing was deleted.\n');
    expect(await place.parley(['sessions', 'restore', '-'], { stdin: '# none\n' })).toMatchObject({
      status: 0,
      out: '',
      err: 'Standard input has no ids: nothing was restored.\n',
    });
    const refused = await place.parley(['sessions', 'delete'], { stdin: '' });
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain('Other ways to select sessions: parley sessions delete --help');
  });

  test('stops at --max before anything is deleted', async () => {
    for (const stdin of [undefined, ids.join('\n')]) {
      const words = stdin === undefined ? ids : ['-'];
      const outcome = await place.parley(
        ['sessions', 'delete', ...words, '--yes', '--max', '3'],
        stdin ? { stdin } : {},
      );
      expectFailure(outcome, { status: 2, code: 'USAGE' });
      expect(outcome.err).toContain(
        'More than 3 sessions would be changed. (USAGE)\nNothing was done. To allow more: --max NUMBER\n',
      );
    }
    expect(await left()).toEqual(ids);
    expect((await place.parley(['sessions', 'delete', ...ids, '--yes', '--max', '4'])).status).toBe(0);
  });

  test('accepts missing ones with --ignore-missing', async () => {
    const one = await place.parley(['sessions', 'delete', missing, '--ignore-missing']);
    expect(one).toMatchObject({ status: 0, out: `not_found ${missing}\n`, err: '' });
    const several = await place.parley(['sessions', 'delete', missing, a, '--yes', '--ignore-missing']);
    expect(several).toMatchObject({ status: 0, out: `not_found ${missing}\ndeleted ${a}\n` });
  });

  test('affects only the project of the key, and so does a restoration', async () => {
    const { key } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'other']);
    const env = { PARLEY_API_KEY: key };
    const theirs = (await place.output(['sessions', 'create'], { env })).trimEnd();
    const { status, out } = await place.parley(['sessions', 'delete', theirs, a, '--yes']);
    expect({ status, out }).toEqual({ status: 3, out: `not_found ${theirs}\ndeleted ${a}\n` });
    expect((await place.parley(['sessions', 'restore', a], { env })).status).toBe(5);
    expect(lines(await place.output(['sessions', 'list', '--ids'], { env }))).toEqual([theirs]);
  });

  test('can be undone with the same ids', async () => {
    await place.output(['chat', '-n', '-m', 'echo', '-s', a, 'kept']);
    const before = await place.output(['sessions', 'list', '--json']);
    const stdin = ids.join('\n');
    await place.output(['sessions', 'delete', '-', '--yes'], { stdin });
    expect(await left()).toEqual([]);
    expect(await place.output(['sessions', 'restore', '-'], { stdin })).toBe(
      ids.map((id) => `restored ${id}\n`).join(''),
    );
    expect(await place.output(['sessions', 'list', '--json'])).toBe(before);
    expect(await place.output(['sessions', 'restore', a])).toBe(`restored ${a}\n`);
  });

  test('accepts 2,500 at once', async () => {
    const many = await makeSessions(place, 2500, 'many');
    const stdin = [...many.slice(0, 1200), missing, ...many.slice(1200)].join('\n');
    const { status, out, err } = await place.parley(['sessions', 'delete', '-', '--yes'], { stdin });
    expect(status).toBe(3);
    expect(out).toBe(
      stdin
        .split('\n')
        .map((id) => `${id === missing ? 'not_found' : 'deleted'} ${id}\n`)
        .join(''),
    );
    expect(err).toMatch(/^2500 sessions deleted, 1 not found(, in \d+ s)?\.\n/);
    expect(await left()).toEqual(ids);
  });
});

test('a reader that leaves does not stop a deletion', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  await place.output(['models']);
  const ids = await makeSessions(place, 2_500);
  const { status, out } = await place.shell(
    'set -o pipefail; parley sessions list --all --ids > ids; parley sessions delete - --yes < ids | head -1',
  );
  expect(status).toBe(0);
  expect(ids.map((id) => `deleted ${id}\n`)).toContain(out);
  expect(await place.output(['sessions', 'list'])).toBe('');
});
