// An admin deletes many sessions: by filters, in batches that can be stopped, resumed and undone, with the same output for every backend.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { openIdServer } from '../support/id-server.ts';
import { type Outcome, outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { servePlace } from '../support/served-place.ts';
import { makeSessions } from '../support/stored.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);
const batchIn = ({ err }: Pick<Outcome, 'err'>) => /--(?:resume|batch) (\S+)/.exec(err)?.[1] ?? '';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

function journalOf(batch: string): string {
  return join(place.dataDirectory, 'batches', `${batch}.journal`);
}

async function active(env = {}): Promise<readonly string[]> {
  return lines(await place.output(['sessions', 'list', '--all', '--ids'], { env })).reverse();
}

describe('filters', () => {
  let old: readonly string[] = [];
  let young: readonly string[] = [];
  let between = '';
  beforeEach(async () => {
    await place.output(['models']);
    old = await makeSessions(place, 230, 'old');
    await delay(10);
    between = new Date().toISOString();
    young = await makeSessions(place, 3, 'young');
  });

  test('select sessions once, before the deletion: by age, by title, or all', async () => {
    const aged = await place.parley([
      'sessions',
      'delete',
      '--older-than',
      between,
      '--title-match',
      'old 1*',
      '--yes',
    ]);
    expect(aged.status).toBe(0);
    const gone = old.filter((_, index) => /^1/.test(String(index)));
    expect(lines(aged.out).sort()).toEqual(gone.map((id) => `deleted ${id}`).sort());
    expect(await place.output(['sessions', 'restore', '--batch', batchIn(aged)])).toContain(
      `restored ${gone[0]}\n`,
    );
    expect(await active()).toEqual([...old, ...young]);
    const rest = await place.parley(['sessions', 'delete', '--older-than', '1h', '--yes']);
    expect(rest).toMatchObject({ status: 0, out: '', err: 'No session matches: nothing was deleted.\n' });
    expect((await place.parley(['sessions', 'delete', '--all', '--yes'])).status).toBe(0);
    expect(await active()).toEqual([]);
  });

  test('select sessions by their messages, combined with other filters, and refuse an invalid query', async () => {
    const [one = '', other = ''] = old;
    for (const id of [one, other])
      await place.output(['chat', '-n', '-m', 'echo', '-s', id, 'the marmot whistles']);
    const words = ['sessions', 'delete', '--query', 'marmot', '--yes'];
    expectFailure(await place.parley([...words.slice(0, 2), '--query', '"', '--yes']), {
      status: 2,
      code: 'INVALID_REQUEST',
    });
    expect((await place.parley([...words, '--title-match', 'old 1'])).out).toBe(`deleted ${other}\n`);
    expect((await place.parley(words)).out).toBe(`deleted ${one}\n`);
    expect((await active()).length).toBe(231);
  });

  test('ask first, also for one session, and stop at --max', async () => {
    const one = await place.parley(['sessions', 'delete', '--title-match', 'young 1']);
    expectFailure(one, { status: 2, code: 'USAGE' });
    expect(one.err).toMatch(
      /^1 session of project default, in the store on this machine \(profile local\):\n {2}ses_/,
    );
    const many = await place.parley(['sessions', 'delete', '--all']);
    const preview = many.err.split('\n').filter((line) => line.startsWith('  '));
    const order = await active();
    const ends = [...order.slice(0, 3), '…', ...order.slice(-3)];
    expect(preview.map((line) => line.trim().split(' ')[0])).toEqual(ends);
    const guarded = await place.parley(['sessions', 'delete', '--all', '--yes', '--max', '200']);
    expectFailure(guarded, { status: 2, code: 'USAGE' });
    expect((await active()).length).toBe(233);
  });

  test('show the sessions that would be deleted without deleting them', async () => {
    const { out, err } = await place.parley(['sessions', 'delete', '--title-match', 'young ?', '--dry-run']);
    expect(err).toBe(`${young.length} sessions would be deleted.\n`);
    expect(lines(out).sort()).toEqual(young.map((id) => `would_delete ${id}`).sort());
    expect((await active()).length).toBe(233);
  });
});

describe('what is asked for', () => {
  test.each([
    ['ids and a filter', ['x', '--all']],
    ['stdin and a filter', ['-', '--title-match', 'x']],
    ['all and a narrower filter', ['--all', '--older-than', '1d']],
    ['ids and a batch', ['x', '--resume', 'b']],
    ['a batch to look up', ['--resume', 'b', '--dry-run']],
    ['an age without a unit', ['--older-than', '30']],
    ['no concurrency', ['x', '--concurrency', '0']],
  ])(
    'is refused before a store is created if its options are invalid or cannot be combined: %s',
    async (_name, words) => {
      expectFailure(await place.parley(['sessions', 'delete', '--yes', ...words]), {
        status: 2,
        code: 'USAGE',
      });
    },
  );
});

describe('a batch', () => {
  test('has a private journal of all ids and results, which undoes exactly this batch', async () => {
    await place.output(['models']);
    const ids = await makeSessions(place, 1500);
    const [other = '', ...meant] = ids;
    await place.output(['sessions', 'delete', other]);
    const deleted = await place.parley(['sessions', 'delete', '-', '--yes'], { stdin: meant.join('\n') });
    const path = journalOf(batchIn(deleted));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(place.dataDirectory, 'batches')).mode & 0o777).toBe(0o700);
    expect(lines(readFileSync(path, 'utf8')).filter((line) => / deleted$/.test(line)).length).toBe(1499);
    const back = await place.parley(['sessions', 'restore', '--batch', batchIn(deleted)]);
    expect([back.status, lines(back.out).length]).toEqual([0, 1499]);
    expect(await active()).toEqual(meant);
  });

  test('that is refused does not start, and leaves no file', async () => {
    await place.output(['models']);
    const ids = await makeSessions(place, 3);
    expect((await place.parley(['sessions', 'delete', ...ids])).status).toBe(2);
    const directory = join(place.dataDirectory, 'batches');
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });

  test('that was interrupted is resumed where it stopped, also after an incomplete line, and is then complete', async () => {
    await place.output(['models']);
    const ids = await makeSessions(place, 6);
    const batch = batchIn(await place.parley(['sessions', 'delete', ...ids, '--yes']));
    await place.output(['sessions', 'restore', '--batch', batch]);
    const whole = readFileSync(journalOf(batch), 'utf8');
    // The state after a kill: two results are stored, the third is incomplete, and the others may have been sent.
    writeFileSync(
      journalOf(batch),
      `${whole.slice(0, whole.indexOf('sent '))}sent 4\n0 deleted\n1 deleted\nprinted 2\n2 dele`,
    );
    const rows: { batch: string }[] = await place.answer(['sessions', 'batches']);
    // The two that may have been sent count as left.
    expect(rows.find((row) => row.batch === batch)).toMatchObject({ ids: 6, done: 2, deleted: 2, left: 4 });
    await place.output(['sessions', 'delete', ids[0] ?? '']);
    await place.output(['sessions', 'delete', ids[1] ?? '']);
    await place.output(['sessions', 'delete', ids[3] ?? '']);
    const resumed = await place.parley(['sessions', 'delete', '--resume', batch]);
    // Number 3 was sent by this batch, so its absence counts as a deletion.
    expect(resumed).toMatchObject({
      status: 0,
      out: ids
        .slice(2)
        .map((id) => `deleted ${id}\n`)
        .join(''),
      err: expect.stringContaining('\n4 sessions deleted (1 of them after a repeated request).\n'),
    });
    const again = await place.parley(['sessions', 'delete', '--resume', batch]);
    expect(again).toMatchObject({ status: 0, out: '', err: '0 of 6 remaining.\n' });
    expect((await place.parley(['sessions', 'restore', '--batch', batch])).status).toBe(0);
    expect(await active()).toEqual(ids);
  });

  test('that runs cannot be resumed by a second process, and its journal does not change', async () => {
    await place.output(['models']);
    const { env, stdin, server } = await openIdServer({ count: 25, takes: 100 });
    const child = place.start(['sessions', 'delete', '-', '--yes', '--concurrency', '1'], env);
    const ended = outcomeOf(child);
    child.stdin.end(stdin);
    await expect.poll(() => server.deletions()).toBeGreaterThanOrEqual(3);
    const [name = ''] = readdirSync(join(place.dataDirectory, 'batches')).filter((file) =>
      /journal$/.test(file),
    );
    const batch = name.replace('.journal', '');
    const second = await place.parley(['sessions', 'delete', '--resume', batch], { env });
    expectFailure(second, { status: 7, code: 'STORE_BUSY' });
    expect(readFileSync(journalOf(batch), 'utf8')).not.toContain('settled');
    expect(await ended).toMatchObject({ status: 0 });
    expect((await place.parley(['sessions', 'delete', '--resume', batch], { env })).status).toBe(0);
  });

  test('belongs to one store and project, and is refused elsewhere', async () => {
    await place.output(['models']);
    const ids = await makeSessions(place, 3);
    const batch = batchIn(await place.parley(['sessions', 'delete', ...ids, '--yes']));
    const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'other']);
    const { env, server } = await openIdServer({ count: 2, projectId: 'prj_x' });
    for (const elsewhere of [{ PARLEY_API_KEY: key }, env]) {
      for (const words of [
        ['delete', '--resume', batch],
        ['restore', '--batch', batch],
      ]) {
        const refused = await place.parley(['sessions', ...words], { env: elsewhere });
        expectFailure(refused, { status: 2, code: 'USAGE' });
        expect(refused.err).toMatch(/belongs to another/);
      }
    }
    expect(server.deletions()).toBe(0);
    expectFailure(await place.parley(['sessions', 'delete', '--resume', '../config']), {
      status: 2,
      code: 'USAGE',
    });
  });

  test('of one project never changes sessions of another, and does not reveal that they exist', async () => {
    await place.output(['models']);
    const own = await makeSessions(place, 20);
    const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'other']);
    const env = { PARLEY_API_KEY: key };
    const theirs = (await place.output(['sessions', 'create'], { env })).trim();
    const stdin = [...own.slice(0, 10), theirs, ...own.slice(10)].join('\n');
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { stdin });
    expect([outcome.status, lines(outcome.out)[10]]).toEqual([3, `not_found ${theirs}`]);
    expect((await place.parley(['sessions', 'delete', '-', '--yes'], { stdin, env })).out).toContain(
      `deleted ${theirs}`,
    );
    expect((await place.parley(['sessions', 'restore', '--batch', batchIn(outcome)])).status).toBe(0);
    expect(await active(env)).toEqual([]);
    expect(await active()).toEqual(own);
  });
});

describe('the same deletion', () => {
  /** Of these ids two exist, one does not, and one is repeated. */
  const words = (ids: readonly string[]) => [ids[0] ?? '', 'nobody', ids[1] ?? '', ids[0] ?? ''];
  const linesOf = (ids: readonly string[]) =>
    [`deleted ${ids[0]}`, 'not_found nobody', `deleted ${ids[1]}`, `duplicate ${ids[0]}`].sort();

  async function check(ids: readonly string[], env: Record<string, string>): Promise<void> {
    const dry = await place.parley(['sessions', 'delete', ...words(ids), '--dry-run'], { env });
    expect(lines(dry.out).sort()).toEqual(
      linesOf(ids)
        .map((line) => line.replace('deleted', 'would_delete'))
        .sort(),
    );
    expect(dry.status).toBe(3);
    const done = await place.parley(['sessions', 'delete', ...words(ids), '--yes'], { env });
    expect({ status: done.status, results: lines(done.out).sort() }).toEqual({
      status: 3,
      results: linesOf(ids),
    });
    expect(
      lines(done.err)[0]
        ?.split(/, |\.$/)
        .sort(),
    ).toEqual(['', '1 duplicate', '1 not found', '2 sessions deleted']);
    const one = await place.parley(['sessions', 'delete', 'nobody'], { env });
    expect([one.status, one.out]).toEqual([5, 'not_found nobody\n']);
    const refused = await place.parley(['sessions', 'delete', 'a', 'b', '--yes'], {
      env: { ...env, PARLEY_API_KEY: 'pk_wrong' },
    });
    expectFailure(refused, { status: 4, code: 'INVALID_API_KEY' });
  }

  test('has the same output and status embedded', async () => {
    await place.output(['models']);
    await check(await makeSessions(place, 2), {});
  });

  test('has the same output and status at a server', async () => {
    await place.output(['models']);
    const ids = await makeSessions(place, 2);
    const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
    const served = await servePlace(place);
    try {
      await check(ids, { PARLEY_URL: served.url, PARLEY_API_KEY: key });
    } finally {
      await served.end('SIGTERM');
    }
  });

  test('has the same output and status at a third-party server with only the basic API, where it cannot be undone', async () => {
    const { ids, env, server } = await openIdServer({ count: 2 });
    await check(ids, env);
    expect([...server.deleted]).toEqual(ids);
    const { server: other, env: there, stdin } = await openIdServer({ count: 3 });
    const batch = await place.parley(['sessions', 'delete', '-', '--yes'], { env: there, stdin });
    expect([batch.status, other.deleted.size]).toEqual([0, 3]);
    expect(batch.err).toBe('3 sessions deleted.\nIt cannot be undone on this server.\n');
    const undo = await place.parley(['sessions', 'restore', ...ids], { env });
    expectFailure(undo, { status: 1, code: 'UNSUPPORTED' });
    const filter = await place.parley(['sessions', 'delete', '--all', '--yes'], { env });
    expectFailure(filter, { status: 1, code: 'UNSUPPORTED' });
  });
});
