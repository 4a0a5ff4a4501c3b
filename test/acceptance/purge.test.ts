// The purge on the command line: its reports, its questions and its refusals. test/store checks the erased bytes.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBasicServer } from '../support/basic-server.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { lookInto } from '../support/raw-database.ts';
import { makeSessions } from '../support/stored.ts';

const word = 'canary-of-the-purge';

describe('a purge', () => {
  let place: PlaceInProcess;
  let ids: readonly string[] = [];
  let purge: readonly string[] = [];
  beforeEach(async () => {
    place = new PlaceInProcess();
    await place.output(['models']);
    ids = await makeSessions(place, 4, word);
    await place.output(['chat', '-n', '-m', 'echo', '-s', ids[0] ?? '', `${word} was said`]);
    await place.output(['sessions', 'delete', ...ids.slice(0, 2), '--yes']);
    await delay(10);
    purge = ['sessions', 'purge', '--deleted-before', new Date().toISOString()];
  });
  afterEach(() => place.remove());

  function places(): readonly string[] {
    return readdirSync(place.dataDirectory).filter(
      (name) =>
        name.startsWith('parley') && readFileSync(join(place.dataDirectory, name)).includes(`${word} 0`),
    );
  }

  test('says what it would erase, and erases nothing, with --dry-run', async () => {
    const plan = await place.answer<Record<string, unknown>>([...purge, '--dry-run']);
    expect(plan).toMatchObject({ sessions: 2, messages: 2, backups: [], unfinished: false });
    expect(plan['not_reached']).toEqual(expect.arrayContaining([expect.stringContaining('exports')]));
    expect((await place.output(['sessions', 'restore', ...ids.slice(0, 2)])).split('\n').length).toBe(3);
  });

  test('during an incomplete import says that the purge must be repeated', async () => {
    lookInto(place.storeFile, (database) =>
      database.exec(`INSERT INTO imports (session, project, held_until)
        SELECT max(id), max(project), 9000000000000000 FROM sessions WHERE deleted_at IS NULL`),
    );
    const again = 'run the command again when no import is running';
    expect((await place.parley([...purge, '--confirm', '2'])).err).toContain(again);
    lookInto(place.storeFile, (database) => database.exec('DELETE FROM imports'));
    expect((await place.parley(purge)).err).not.toContain(again);
    expect(await place.answer([...purge, '--dry-run'])).toMatchObject({ unfinished: false });
  });

  test('needs its count if nobody can be asked, and refuses a wrong one', async () => {
    const unasked = await place.parley(purge);
    expectFailure(unasked, { status: 2, code: 'USAGE' });
    expect(unasked.err).toMatch(
      /2 sessions of project default, deleted before .*cannot be undone.*--confirm 2/s,
    );
    expectFailure(await place.parley([...purge, '--confirm', '3']), { status: 2, code: 'USAGE' });
    expectFailure(await place.parley(['sessions', 'purge', '--confirm', '2']), { status: 2, code: 'USAGE' });
    expect(places()).not.toEqual([]);
  });

  test('prints its receipt even if the journals cannot be read, and names their directory', async () => {
    const batches = join(place.dataDirectory, 'batches');
    rmSync(batches, { recursive: true });
    writeFileSync(batches, '');
    const { status, out, err } = await place.parley([...purge, '--confirm', '2']);
    expect(out).toContain('Erased 2 sessions');
    expect(err).toContain(`The sessions are erased, but ${batches} could not be removed`);
    expect(status).toBe(3);
  });

  test('ends with sentences', async () => {
    const { status, out } = await place.parley([...purge, '--confirm', '2']);
    expect(status).toBe(0);
    expect(out).toMatch(
      /^Erased 2 sessions with 2 messages, and \d+ stored answers?\.\nThe store now has \d+ bytes, down from \d+\. Integrity check: ok\.\n/,
    );
    expect(out).not.toContain('pages');
    expect(out).not.toContain('_');
  });

  test('says in a sentence what it would erase', async () => {
    const { status, out, err } = await place.parley([...purge, '--dry-run']);
    expect(status).toBe(0);
    expect(out).toMatch(
      /^2 sessions of project default, deleted before \S+: 2 messages, \d+ bytes of text\.\n/,
    );
    expect(err).toContain('Not erased, because');
  });

  test('erases the sessions with their backups and journals, names what it cannot reach, and leaves the others', async () => {
    const backup = `${place.storeFile}.backup-v0`;
    writeFileSync(backup, `${word} 0`);
    const { status, out, err } = await place.parley([...purge, '--confirm', '2', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(out).data).toMatchObject({
      sessions: 2,
      messages: 2,
      backups_removed: [backup],
      free_pages: 0,
      log_bytes: 0,
      integrity: 'ok',
      journals_removed: [expect.any(String)],
    });
    expect(err).toContain(backup);
    expect([existsSync(backup), places()]).toEqual([false, []]);
    expect(readdirSync(join(place.dataDirectory, 'batches'))).toEqual([]);
    expect((await place.parley(['sessions', 'restore', ids[0] ?? ''])).status).toBe(5);
    expect((await place.output(['sessions', 'list', '--ids'])).split('\n').length).toBe(3);
    for (const options of [['--confirm', '2'], ['--dry-run'], []]) {
      expect(await place.parley([...purge, ...options])).toMatchObject({
        ...{ status: 0, out: '' },
        err: expect.stringMatching(
          /^Nothing to erase: no session of project default was deleted before \S+\.\n$/,
        ),
      });
    }
    expect(await place.answer([...purge, '--quiet'])).toMatchObject({ sessions: 0, messages: 0 });
  });

  test('keeps the journal of a batch of which a session remains, so that it can be deleted again and restored', async () => {
    const [journal = ''] = readdirSync(join(place.dataDirectory, 'batches'));
    const batch = journal.replace('.journal', '');
    await place.output(['sessions', 'restore', ids[1] ?? '']);
    const data = await place.answer([...purge, '--confirm', '1']);
    expect(data).toMatchObject({ sessions: 1, journals_removed: [] });
    // The same journal can delete the remaining session, and reports the erased one.
    await place.output(['sessions', 'delete', ids[1] ?? '']);
    const restored = await place.parley(['sessions', 'restore', '--batch', batch]);
    expect([restored.status, restored.out]).toEqual([3, `not_found ${ids[0]}\nrestored ${ids[1]}\n`]);
    await place.output(['sessions', 'delete', ids[1] ?? '']);
    const all = ['sessions', 'purge', '--deleted-before', '0d', '--confirm', '1'];
    expect(await place.answer(all)).toMatchObject({ sessions: 1, journals_removed: [batch] });
  });

  test('keeps the journal of a batch that was stopped before its end, so that it can be resumed', async () => {
    const directory = join(place.dataDirectory, 'batches');
    const [journal = ''] = readdirSync(directory);
    const path = join(directory, journal);
    // The state after a kill before the second request was sent.
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/\nsent [\s\S]*/, '\nsent 1\n0 deleted\nprinted 1\nsettled\n'),
    );
    await place.output(['sessions', 'restore', ids[1] ?? '']);
    const all = ['sessions', 'purge', '--deleted-before', '0d', '--confirm', '1'];
    expect(await place.answer(all)).toMatchObject({ sessions: 1, journals_removed: [] });
    const resumed = await place.parley(['sessions', 'delete', '--resume', journal.replace('.journal', '')]);
    expect([resumed.status, resumed.out]).toEqual([0, `deleted ${ids[1]}\n`]);
  });

  test('asks for the count at a terminal, and accepts no other answer', async () => {
    const question = [{ after: 'Type 2 to permanently erase', keys: 'yes\r' }];
    const refused = await place.terminal(`parley ${purge.join(' ')}; echo "status $?"`, {}, question);
    expect(refused.out).toContain('status 2');
    expect(places()).not.toEqual([]);
    const typed = await place.terminal(`parley ${purge.join(' ')}; echo "status $?"`, {}, [
      { after: 'Type 2 to permanently erase', keys: '2\r' },
    ]);
    expect(typed.out).toContain('status 0');
    expect(places()).toEqual([]);
  });

  test('works only for the store on this machine', async () => {
    const server = await openBasicServer({ ids: [] });
    try {
      const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' };
      expectFailure(await place.parley([...purge, '--confirm', '2'], { env }), {
        status: 1,
        code: 'UNSUPPORTED',
      });
    } finally {
      await server.close();
    }
  });
});
