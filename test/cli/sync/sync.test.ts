// The effect of a sync for each kind of change, in both directions, and what it refuses.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import { anySession } from '../../../src/service/session-archive.ts';
import { say } from '../../support/calls.ts';
import {
  changed,
  recordsOf,
  type SyncedPlace,
  SyncedPlaces,
  sessionsOf,
} from '../../support/synced-places.ts';

let places: SyncedPlaces;
let one: SyncedPlace;
let other: SyncedPlace;
beforeAll(async () => {
  places = await SyncedPlaces.open([0, 500]);
});
afterAll(() => places.close());
beforeEach(async () => {
  places.around = (backend) => backend;
  [one, other] = (await places.begin()) as [SyncedPlace, SyncedPlace];
});

const talk = async ({ backend, call }: SyncedPlace, message: string, session: string | null = null) =>
  (await say(backend.service, call, message, session)).session_id;

const sync = async (...words: readonly string[]) => {
  const { status, results, err } = await places.sync(one, other, ...words);
  return { status, err, lines: results.map(({ session_id, status: what }) => `${what} ${session_id}`) };
};

async function expectEqual() {
  const records = await recordsOf(one);
  expect(await recordsOf(other)).toEqual(records);
  return records;
}

/** A backend that records its writes and does none. */
function onlyReads(backend: Backend, writes: string[]): Backend {
  const refuse = (name: string) => () => {
    writes.push(name);
    return Promise.reject(new Error(name));
  };
  const archive = { importSession: refuse('import'), restoreSession: refuse('restore') };
  return changed(backend, archive, { deleteSession: refuse('delete') });
}

describe('a sync', () => {
  it('copies to each place exactly what it lacks, and then has nothing to do', async () => {
    const { archive } = one.backend;
    const mine = await talk(one, 'hello');
    await talk(one, 'again', mine);
    for await (const _ of archive.regenerate(one.call, mine, {}, 'whole'));
    await archive.undoTurn(one.call, mine);
    await archive.changeSession(one.call, mine, { title: 'Mine', system: 'Short.', parameters: { seed: 1 } });
    const { session_id: fork } = (await archive.forkSession(one.call, mine, {})).data;
    const theirs = await talk(other, 'good day');
    const before = await recordsOf(one);
    const { lines, status } = await sync();
    expect(status).toBe(0);
    expect(lines.sort()).toEqual([`pulled ${theirs}`, `pushed ${fork}`, `pushed ${mine}`].sort());
    const after = await expectEqual();
    expect(after).toMatchObject(before);
    expect(Object.keys(after)).toHaveLength(3);
    expect((await sync()).lines).toEqual([]);
  });

  it('keeps what one place has redacted, and grows the session in both', async () => {
    for (const [redacts, grows] of [
      [one, other],
      [other, one],
      [one, one],
    ] as const) {
      const id = await talk(one, 'my key is canary');
      await sync();
      const { administration } = redacts.backend;
      const { messages = [] } = (await recordsOf(redacts))[id] ?? {};
      await administration.redactSession({
        project_id: redacts.projectId,
        session_id: id,
        messages: messages.map(({ message_id, content: was }) => {
          return { message_id, was, content: was.replaceAll('canary', '[redacted secret]') };
        }),
        changes: { title: 'my key is [redacted secret]' },
      });
      await talk(grows, 'more', id);
      expect(await sync()).toMatchObject({ status: 0, lines: [`grown ${id}`] });
      expect((await sync()).lines).toEqual([]);
      const records = [await recordsOf(one), await recordsOf(other)];
      expect(records.map((all) => all[id]?.messages.length)).toEqual([4, 4]);
      expect(records.map((all) => all[id]?.session.title)).toEqual(
        Array(2).fill('my key is [redacted secret]'),
      );
      expect(JSON.stringify((await recordsOf(redacts))[id])).not.toContain('canary');
      expect(Object.keys(records[0] ?? {}).sort()).toEqual(Object.keys(records[1] ?? {}).sort());
      expect(JSON.stringify(await recordsOf(redacts)).split('canary')).toHaveLength(1);
      await redacts.backend.service.deleteSession(redacts.call, id);
      await sync();
    }
  });

  it('keeps a redacted title, even if it has forgotten the earlier one', async () => {
    const id = await talk(one, 'my key is canary');
    await sync();
    const changes = { title: '[redacted message]' };
    await one.backend.administration.redactSession({
      ...{ project_id: one.projectId, session_id: id, messages: [], changes },
    });
    expect((await sync('--forget')).lines).toEqual([`changed ${id}`]);
    const titles = [await recordsOf(one), await recordsOf(other)].map((all) => all[id]?.session.title);
    expect(titles).toEqual(['[redacted message]', '[redacted message]']);
  });

  it('refuses a place that has lost all sessions, and fills it again with --forget', async () => {
    for (let made = 0; made < 21; made += 1) await talk(one, `hello ${made}`);
    await sync();
    places.around = (backend, place) =>
      place === other
        ? changed(backend, {
            listSessions: async (...call) => {
              const listed = await backend.archive.listSessions(...call);
              return { ...listed, data: { items: [], next_cursor: null } };
            },
          })
        : backend;
    const { status, err } = await sync();
    expect(status).toBe(2);
    expect(err).toContain('The store of the profile has no sessions, but it had some at the last sync.');
    expect(err).toContain('--forget');
    places.around = (backend) => backend;
    expect(Object.keys(await recordsOf(one))).toHaveLength(21);
    expect((await sync('--forget')).status).toBe(0);
    await expectEqual();
  });

  it('copies pins, the archive and tags, and a filter by tag finds the copied sessions', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await one.backend.archive.changeSession(one.call, id, { pinned: true, tags: ['work', 'draft'] });
    expect((await sync()).lines).toEqual([`changed ${id}`]);
    await other.backend.archive.changeSession(other.call, id, { archived: true, tags: ['work'] });
    expect((await sync()).lines).toEqual([`changed ${id}`]);
    await expectEqual();
    for (const { backend, call } of [one, other]) {
      const found = async (tag: string) => {
        const { data } = await backend.archive.listSessions(call, {
          ...anySession,
          limit: 10,
          cursor: null,
          tag,
        });
        return data.items.map(({ pinned, archived, tags }) => ({ pinned, archived, tags }));
      };
      expect(await found('work')).toEqual([{ pinned: true, archived: true, tags: ['work'] }]);
      expect(await found('draft')).toEqual([]);
    }
    expect((await sync()).lines).toEqual([]);
  });

  it('keeps the tags and parameters that only one place has, if there was no earlier sync', async () => {
    const id = await talk(one, 'hello');
    await sync();
    const { archive } = other.backend;
    await archive.changeSession(other.call, id, { tags: ['work'], parameters: { seed: 1 } });
    expect((await sync('--forget')).lines).toEqual([`changed ${id}`]);
    expect((await expectEqual())[id]?.session).toMatchObject({ tags: ['work'], parameters: { seed: 1 } });
  });

  it('with --tag syncs the sessions with the tag in either place, and does not change the others', async () => {
    const tag = ({ backend, call }: SyncedPlace, id: string, ...tags: string[]) =>
      backend.archive.changeSession(call, id, { tags });
    const remove = ({ backend, call }: SyncedPlace, id: string) => backend.service.deleteSession(call, id);
    const [mine, theirs, gone, plain] = [
      await talk(one, 'mine'),
      await talk(other, 'theirs'),
      await talk(one, 'gone'),
      await talk(one, 'plain'),
    ];
    await tag(one, mine, 'work');
    await tag(other, theirs, 'home', 'work');
    await tag(one, gone, 'home');
    const both = ['--tag', 'work', '--tag', 'home'];
    const would = await sync(...both, '--dry-run');
    expect(would.lines).toEqual([`would_push ${mine}`, `would_push ${gone}`, `would_pull ${theirs}`]);
    expect(would.err).toContain('1 session without the selected tags skipped.');
    expect((await sync('--tag', 'work')).lines).toEqual([`pushed ${mine}`, `pulled ${theirs}`]);
    expect((await sync(...both, '--pull')).lines).toEqual([]);
    expect((await sync(...both)).lines).toEqual([`pushed ${gone}`]);
    // A deleted session keeps its tags. Removing a tag also removes the record of its last changes.
    await remove(other, gone);
    await tag(one, mine);
    await talk(one, 'more', mine);
    expect((await sync(...both)).lines).toEqual([`grown ${mine}`, `deleted ${gone}`]);
    await talk(one, 'still more', mine);
    expect((await sync(...both)).lines).toEqual([]);
    expect(Object.keys(await recordsOf(other)).sort()).toEqual([mine, theirs].sort());
    // The agreed state of the other sessions is kept, so the next sync of all knows their deletions.
    await remove(other, mine);
    await sync(...both);
    expect((await sync()).lines.sort()).toEqual([`pushed ${plain}`, `restored ${mine}`].sort());
    await remove(other, plain);
    await sync(...both);
    expect((await sync()).lines).toEqual([`deleted ${plain}`]);
    await expectEqual();
  });

  it('with --tag refuses an invalid tag, and --forget', async () => {
    await talk(one, 'hello');
    for (const words of [
      ['--tag', ''],
      ['--tag', 'work', '--forget'],
    ]) {
      expect((await sync(...words)).status).toBe(2);
      expect(await recordsOf(other)).toEqual({});
    }
  });

  it('copies the changes of one side: messages, alternatives, title and settings', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await talk(other, 'more', id);
    await one.backend.archive.changeSession(one.call, id, { title: 'Renamed' });
    expect((await sync()).lines).toEqual([`grown ${id}`]);
    expect((await expectEqual())[id]).toMatchObject({ session: { title: 'Renamed', message_count: 4 } });
    await one.backend.archive.undoTurn(one.call, id);
    await sync();
    expect((await expectEqual())[id]?.session.message_count).toBe(2);
    await one.backend.archive.redoTurn(one.call, id);
    await sync();
    expect((await expectEqual())[id]?.session.message_count).toBe(4);
    await one.backend.archive.changeSession(one.call, id, { title: 'hello' });
    await other.backend.archive.changeSession(other.call, id, { system: 'Short.' });
    expect((await sync()).lines).toEqual([`changed ${id}`]);
    expect((await expectEqual())[id]).toMatchObject({ session: { title: 'hello', system: 'Short.' } });
  });

  it('creates a second session if both sides have new messages, and overwrites nothing', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await talk(one, 'here', id);
    await talk(other, 'there', id);
    await talk(other, 'and there', id);
    const { results } = await places.sync(one, other);
    expect(results).toMatchObject([{ session_id: id, status: 'forked', at: 'both' }]);
    const records = await expectEqual();
    const fork = results[0]?.fork ?? '';
    const texts = (session: string) =>
      records[session]?.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(texts(id)).toEqual(['hello', 'there', 'and there']);
    expect(texts(fork)).toEqual(['hello', 'here']);
    expect(records[fork]?.session).toMatchObject({ parent_id: id, forked_at: 1 });
    expect((await sync()).lines).toEqual([]);
    await talk(one, 'further', fork);
    expect((await sync()).lines).toEqual([`grown ${fork}`]);
    await expectEqual();
  });

  it('keeps the new title of a second session that it has created in only one place', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await talk(one, 'here', id);
    await talk(one, 'and here', id);
    await talk(other, 'there', id);
    const { results } = await places.sync(one, other, '--pull');
    const fork = results[0]?.fork ?? '';
    await one.backend.archive.changeSession(one.call, fork, { title: 'a new title' });
    const { status, lines } = await sync();
    expect([status, ...lines]).toEqual([0, `forked ${id}`, `changed ${fork}`]);
    expect((await expectEqual())[fork]?.session.title).toBe('a new title');
    expect((await sync()).lines).toEqual([]);
  });

  it('copies deletions and restorations; a session that was changed elsewhere is restored', async () => {
    const [gone, changed] = [await talk(one, 'gone'), await talk(one, 'changed')];
    await sync();
    await one.backend.service.deleteSession(one.call, gone);
    await one.backend.service.deleteSession(one.call, changed);
    await talk(other, 'on', changed);
    expect((await sync()).lines).toEqual([`deleted ${gone}`, `restored ${changed}`]);
    expect(Object.keys(await expectEqual())).toEqual([changed]);
    expect(await sessionsOf(other, true)).toMatchObject([{ session_id: gone }]);
    await one.backend.archive.restoreSession(one.call, gone);
    expect((await sync()).lines).toEqual([`restored ${gone}`]);
    expect(Object.keys(await expectEqual())).toHaveLength(2);
  });

  it('deletes the sessions that were purged in the other place, and does not restore them', async () => {
    const id = await talk(one, 'secret');
    await sync();
    await one.backend.service.deleteSession(one.call, id);
    const deleted_before = new Date(one.now() + 1000).toISOString();
    await one.backend.administration.purgeSessions({
      ...{ project_id: one.projectId, deleted_before, expected_sessions: 1 },
    });
    expect((await sync()).lines).toEqual([`deleted ${id}`]);
    expect((await sync()).lines).toEqual([]);
    expect(await sessionsOf(one, true)).toEqual([]);
    expect(await sessionsOf(other, true)).toMatchObject([{ session_id: id }]);
    // It is copied as if it had never been synced, and restored there.
    await other.backend.archive.restoreSession(other.call, id);
    expect((await sync('--forget')).lines).toEqual([`pulled ${id}`]);
  });

  it.each([
    ['--push', 'place0', 'pushed'],
    ['--pull', 'place1', 'pulled'],
  ])('with %s writes nothing to %s', async (option, name, status) => {
    const id = await talk(one, 'both');
    await sync();
    const [mine, theirs] = [await talk(one, 'mine'), await talk(other, 'theirs')];
    await talk(one, 'here', id);
    await talk(other, 'there', id);
    const writes: string[] = [];
    places.around = (backend, place) => (place.name === name ? onlyReads(backend, writes) : backend);
    const { lines, err } = await sync(option);
    expect(writes).toEqual([]);
    expect(lines).toContain(`${status} ${option === '--push' ? mine : theirs}`);
    expect(err).toContain('1 session waiting for a sync in the other direction');
    places.around = (backend) => backend;
    await sync();
    expect(Object.keys(await expectEqual())).toHaveLength(4);
  });

  it('with --dry-run reports its effect, and writes nothing', async () => {
    const [grown, forked, deleted] = [await talk(one, 'a'), await talk(one, 'b'), await talk(one, 'c')];
    await sync();
    await talk(one, 'on', grown);
    await talk(one, 'here', forked);
    await talk(other, 'there', forked);
    await one.backend.service.deleteSession(one.call, deleted);
    const [mine, theirs] = [await talk(one, 'mine'), await talk(other, 'theirs')];
    const writes: string[] = [];
    places.around = (backend) => onlyReads(backend, writes);
    const { lines, status } = await sync('--dry-run');
    expect(status).toBe(0);
    expect(writes).toEqual([]);
    expect(lines.toSorted()).toEqual(
      [
        ...[`would_grow ${grown}`, `would_fork ${forked}`, `would_delete ${deleted}`],
        ...[`would_push ${mine}`, `would_pull ${theirs}`],
      ].toSorted(),
    );
  });

  it('continues after a failure of one session, and repeats it in the next sync', async () => {
    const ids = [await talk(one, 'a'), await talk(one, 'b'), await talk(one, 'c')];
    places.around = (backend, place) =>
      changed(backend, {
        async importSession(call, record) {
          if (place === other && record.session.session_id === ids[1])
            throw new ParleyError('PAYLOAD_TOO_LARGE', 'Too long.', { hint: 'None.' });
          return backend.archive.importSession(call, record);
        },
      });
    const { status, lines } = await sync();
    expect(status).toBe(3);
    expect(lines).toEqual([`pushed ${ids[0]}`, `failed ${ids[1]}`, `pushed ${ids[2]}`]);
    places.around = (backend) => backend;
    expect((await sync()).lines).toEqual([`pushed ${ids[1]}`]);
    await expectEqual();
  });

  it('that is stopped at any write, and run again, ends as an undisturbed one', async () => {
    for (let last = 0; last < 5; last += 1) {
      [one, other] = (await places.begin()) as [SyncedPlace, SyncedPlace];
      const [forked, grown] = [await talk(one, 'b'), await talk(one, 'g')];
      await sync();
      await talk(one, 'here', forked);
      await talk(other, 'there', forked);
      await talk(other, 'on', grown);
      await one.backend.archive.changeSession(one.call, grown, { title: 'New' });
      await talk(one, 'mine');
      let writes = 0;
      places.around = (backend) =>
        changed(backend, {
          async importSession(call, record) {
            if (writes++ >= last) throw new ParleyError('STORAGE_FULL', 'Full.', { hint: 'None.' });
            return backend.archive.importSession(call, record);
          },
        });
      const stopped = await places.sync(one, other);
      expect(stopped.status).toBe(writes > last ? 7 : 0);
      places.around = (backend) => backend;
      expect((await sync()).status).toBe(0);
      const records = Object.values(await expectEqual());
      const texts = records.map(({ messages }) => messages.map(({ content }) => content).join(' '));
      expect(
        texts
          .map((text) =>
            text
              .split(' ')
              .filter((_, at) => at % 2 === 0)
              .join(' '),
          )
          .sort(),
      ).toEqual(['b here', 'b there', 'g on', 'mine'].sort());
      expect(records.map(({ session }) => session.title)).toContain('New');
      expect((await sync()).lines).toEqual([]);
    }
  });

  it('merges a session again that changes while it is synced', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await talk(one, 'here', id);
    let isFirst = true;
    places.around = (backend, place) =>
      changed(backend, {
        async importSession(call, record) {
          const isNow = isFirst && place === other;
          isFirst &&= !isNow;
          if (isNow) await talk(other, 'meanwhile', id);
          return backend.archive.importSession(call, record);
        },
      });
    expect((await sync()).lines).toEqual([`forked ${id}`]);
    expect(Object.keys(await expectEqual())).toHaveLength(2);
  });

  it('keeps a message that comes just before a deletion arrives', async () => {
    const id = await talk(one, 'hello');
    await sync();
    await one.backend.service.deleteSession(one.call, id);
    places.around = (backend, place) =>
      changed(
        backend,
        {},
        {
          async deleteSession(call, session) {
            if (place === other) await talk(other, 'meanwhile', id);
            return backend.service.deleteSession(call, session);
          },
        },
      );
    expect((await sync()).lines).toEqual([`failed ${id}`]);
    places.around = (backend) => backend;
    expect((await sync()).lines).toEqual([`restored ${id}`]);
    const [record] = Object.values(await expectEqual());
    expect(record?.messages.map(({ content }) => content)).toContain('meanwhile');
  });

  it.each([
    ['a time that is none', { created_at: 'yesterday' }],
    ['a time out of all calendars', { created_at: '+999999-01-01T00:00:00.000Z' }],
    ['the same session again and again', {}],
  ])('fails if the other place lists %s', async (_what, changes) => {
    await talk(one, 'mine');
    const id = await talk(other, 'theirs');
    let pages = 0;
    places.around = (backend, place) =>
      changed(backend, {
        async listSessions(call, query) {
          const page = await backend.archive.listSessions(call, { ...query, cursor: null });
          if (place === one || query.deleted) return page;
          pages += 1;
          const items = page.data.items.map((item) => ({ ...item, ...changes }));
          return { ...page, data: { items, next_cursor: `c${pages}` } };
        },
      });
    const { status, err } = await sync();
    expect(status).toBe(1);
    expect(err).toContain('BAD_RESPONSE');
    expect(err).toContain(id);
    expect(pages).toBeLessThan(5);
  });

  it('is refused if the other place lacks the extension, or is the same place', async () => {
    places.around = (backend, place) =>
      place === other ? { ...backend, extensions: ['archive', 'lines', 'settings'] } : backend;
    const refused = await places.sync(one, other);
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('lacks: sync');
    expect(refused.err).toContain('Update Parley there');
    expect((await sync('--push', '--pull')).status).toBe(2);
  });

  it.each(['{}', 'null', '{"created_at":"yesterday","session_id":"s","fields":{},"past":[]}'])(
    'works, and reads its memory up to the first invalid line: %s',
    async (line) => {
      const id = await talk(one, 'hello');
      await sync();
      const directory = join(places.directoryOf(one), 'data', 'sync');
      const name = readdirSync(directory).find((file) =>
        readFileSync(join(directory, file), 'latin1').includes(id),
      );
      writeFileSync(join(directory, name ?? ''), `${line}\n`);
      const mine = await talk(one, 'mine');
      const { status, lines } = await sync();
      expect([status, lines]).toEqual([0, [`pushed ${mine}`]]);
      await expectEqual();
    },
  );

  it('stores no texts, titles or keys in its memory', async () => {
    const id = await talk(one, 'confidential');
    await sync();
    const directory = join(places.directoryOf(one), 'data', 'sync');
    const text = readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), 'latin1'))
      .join('');
    expect(text).toContain(id);
    for (const secret of ['confidential', one.call.apiKey, other.call.apiKey])
      expect(text).not.toContain(secret);
  });
});
