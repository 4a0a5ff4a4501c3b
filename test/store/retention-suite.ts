// The retention of every store, with the rules of local/local-retention.ts: what expires, what is erased, and when a count must be confirmed.
import { describe, expect, it } from 'vitest';
import { IdSource } from '../../src/local/ids.ts';
import { LocalAudit } from '../../src/local/local-audit.ts';
import type { LocalOptions } from '../../src/local/local-options.ts';
import { LocalRetention } from '../../src/local/local-retention.ts';
import { defaultLimits } from '../../src/service/limits.ts';
import type { RetentionPolicy, RetentionRunRequest } from '../../src/service/project-retention.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { sinceBoot } from '../support/store-options.ts';
import type { NewPlace } from './every-store.ts';
import { everySession, newId, newProject, newSession, recordOf, turnReply } from './store-samples.ts';
import { begin } from './turn-steps.ts';

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.now();
const owner = { id: 'owner', isGone: () => false };
const after90: RetentionPolicy = { after_ms: 90 * dayMs, keep_last: null, erase_after_ms: null };

export function describeRetention(name: string, newPlace: NewPlace): void {
  /** `later`: moves the clocks. `storeBehindMs`: how far that of the store is behind. Sessions are made so many days before the start. */
  async function retained(given?: SessionStore, storeBehindMs = 0) {
    const store = given ?? (await (await newPlace()).open());
    const project = await newProject(store);
    let now = start;
    const ids = new IdSource((size) => crypto.getRandomValues(new Uint8Array(size)));
    const local = { store, limits: defaultLimits, now: () => now, sinceBoot, ids, owner };
    // What engines and turns need is not asked for.
    const clocked = Object.assign(await store.retention(), { now: async () => now - storeBehindMs });
    const retention = new LocalRetention(local as unknown as LocalOptions, clocked);
    const run = (request: Partial<RetentionRunRequest> = {}) =>
      retention.run({
        project_id: project,
        confirmed: null,
        every_ms: null,
        signal: new AbortController().signal,
        ...request,
      });
    return {
      ...{ store, project, retention, run },
      later: (days: number) => {
        now += days * dayMs;
      },
      session: (days: number) => newSession(store, project, { now: now - days * dayMs }),
      active: () => listed(store, project, { archived: null }),
      deleted: () => listed(store, project, { deleted: true }),
      /** What the audit log has of the owner's and of retention's doing, of a session or of all. */
      async auditing(session_id: string | null = null) {
        const query = { since: null, until: null, project_id: project, what: null, session_id };
        const entries: string[] = [];
        for await (const { what, count, key_id } of new LocalAudit(store.audit).entries(query))
          if (key_id === null && !what.startsWith('key')) entries.push(`${what} ${count}`);
        return entries;
      },
      /** Confirms the first run. */
      async begun(policy: RetentionPolicy = after90) {
        await retention.setPolicy(project, policy);
        const plan = await retention.plan(project);
        return run({ confirmed: (plan?.expire ?? 0) + (plan?.erase ?? 0) });
      },
    };
  }

  async function listed(store: SessionStore, project: string, filter: Parameters<typeof everySession>[0]) {
    const { items } = await store.listSessions(project, everySession({ limit: 200, ...filter }));
    return items.map(({ session_id }) => session_id).sort();
  }

  describe(`${name}: retention`, () => {
    it('without a policy does nothing, and has none', async () => {
      const { session, run, retention, project, active } = await retained();
      const id = await session(10_000);
      expect(await run()).toEqual({ kind: 'no_policy' });
      expect(await retention.plan(project)).toBeNull();
      expect(await active()).toEqual([id]);
      await retention.setPolicy(project, after90);
      expect(await retention.removePolicy(project)).toBe(true);
      expect(await retention.removePolicy(project)).toBe(false);
      expect(await run({ confirmed: 1 })).toEqual({ kind: 'no_policy' });
      expect(await active()).toEqual([id]);
    });

    it('deletes by the last activity, archived sessions too, but neither pinned ones nor a running turn', async () => {
      const { store, project, session, begun, active, deleted, retention } = await retained();
      const [old, young, pinned, archived] = [
        await session(91),
        await session(89),
        await session(400),
        await session(300),
      ];
      await store.changeSession(project, pinned, { pinned: true });
      await store.changeSession(project, archived, { archived: true });
      const days = (count: number) => ({ now: start - count * dayMs });
      const running = await begin(store, project, days(200));
      const again = await begin(store, project, days(200));
      await store.endTurn(project, again, turnReply(days(199)));
      const used = await begin(store, project, { ...days(5), session_id: await session(200) });
      await store.endTurn(project, used, turnReply(days(5)));
      const gone = [old, archived, again.session_id].sort();
      await retention.setPolicy(project, after90);
      expect(await retention.plan(project)).toMatchObject({
        ...{ expire: 3, erase: 0, confirmation: 'first_run', keep_last: null },
        next_at: new Date(start + dayMs).toISOString(),
      });
      expect(await begun()).toMatchObject({
        kind: 'ran',
        report: { expired: 3, erased: 0, finished: true, continued: false },
      });
      expect(await deleted()).toEqual(gone);
      expect(await active()).toEqual([young, pinned, running.session_id, used.session_id].sort());
    });

    it('keeps the newest sessions whatever their age, pinned and archived ones counted', async () => {
      const { store, project, session, begun, deleted, active } = await retained();
      const ids: string[] = [];
      for (const age of [100, 200, 300, 400]) ids.push(await session(age));
      await store.changeSession(project, ids[0] ?? '', { archived: true });
      expect(await begun({ ...after90, keep_last: 4 })).toMatchObject({
        report: { expired: 0, batch: null },
      });
      expect(await begun({ ...after90, keep_last: 2 })).toMatchObject({ report: { expired: 2 } });
      expect(await deleted()).toEqual(ids.slice(2).sort());
      expect(await active()).toEqual(ids.slice(0, 2).sort());
    });

    it('needs the right count for the first run and after the policy became shorter, and for no other', async () => {
      const { session, run, retention, project, active, later } = await retained();
      await session(100);
      await retention.setPolicy(project, after90);
      expect(await run()).toMatchObject({ kind: 'unconfirmed', reason: 'first_run', plan: { expire: 1 } });
      expect(await run({ confirmed: 2 })).toMatchObject({ kind: 'other_count', plan: { expire: 1 } });
      expect(await active()).toHaveLength(1);
      expect(await run({ confirmed: 1 })).toMatchObject({ kind: 'ran', report: { expired: 1 } });
      await session(91);
      expect(await run({ confirmed: 0 })).toMatchObject({ kind: 'other_count', plan: { expire: 1 } });
      later(1);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 1 } });
      await session(40);
      const shorter: Partial<RetentionPolicy>[] = [
        { after_ms: 80 * dayMs },
        { after_ms: 80 * dayMs, erase_after_ms: 30 * dayMs },
        { after_ms: 80 * dayMs, erase_after_ms: 20 * dayMs },
      ];
      for (const change of shorter) {
        await retention.setPolicy(project, { ...after90, ...change });
        expect(await run()).toMatchObject({ kind: 'unconfirmed', reason: 'shorter' });
        expect(await run({ confirmed: 0 })).toMatchObject({ kind: 'ran' });
        expect(await run()).toMatchObject({ kind: 'ran' });
      }
      // Longer again: no count; and then the former one is shorter.
      await retention.setPolicy(project, { ...after90, keep_last: 5 });
      expect(await run()).toMatchObject({ kind: 'ran' });
      await retention.setPolicy(project, after90);
      expect(await run()).toMatchObject({ kind: 'unconfirmed', reason: 'shorter' });
    });

    it('restores a batch as a whole, and what was restored stays until its time has passed again', async () => {
      const { store, session, run, retention, project, active, begun, later } = await retained();
      const ids = [await session(100), await session(200), await session(300)].sort();
      await begun();
      const [batch] = await retention.batches();
      expect(batch).toMatchObject({ project_id: project, expired: 3, restored: 0, restored_at: null });
      const name = batch?.batch ?? '';
      const { signal } = new AbortController();
      expect(await store.restoreSession(project, ids[0] ?? '', null)).toMatchObject({ kind: 'done' });
      expect(await retention.restoreBatch(name, { signal })).toBe(2);
      expect(await active()).toEqual(ids);
      expect(await retention.restoreBatch(name, { signal })).toBe(0);
      expect(await retention.batches()).toMatchObject([{ restored: 2 }]);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 0 } });
      for (let week = 0; week < 12; week += 1) {
        later(7);
        expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 0 } });
      }
      later(7);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 3 } });
      await expect(retention.restoreBatch('ret_none', { signal })).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
    });

    it('takes an import for an activity, so imported sessions stay until the time has passed', async () => {
      const { store, project, run, begun, active, later } = await retained();
      await begun();
      const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);
      const records = [2, 600].map((count) => recordOf(newId('ses'), texts(count)));
      for (const record of records) await store.importSession(project, record, null);
      const ids = records.map(({ session }) => session.session_id).sort();
      for (let week = 0; week < 12; week += 1) {
        expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 0 } });
        expect(await active()).toEqual(ids);
        later(7);
      }
      later(7);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 2 } });
    });

    it('erases after the grace what it has deleted itself, and nothing else', async () => {
      const { store, session, run, retention, project, deleted, begun, later, auditing } = await retained();
      const [gone, back, again] = [await session(100), await session(200), await session(300)];
      const byHand = await session(400);
      await store.deleteSession(project, byHand, start - 300 * dayMs);
      expect(await begun({ ...after90, erase_after_ms: 30 * dayMs })).toMatchObject({
        report: { expired: 3, erased: 0 },
      });
      await store.restoreSessions(project, [back, again], null);
      await store.deleteSession(project, again, start);
      for (const days of [10, 10, 9]) {
        later(days);
        expect(await run()).toMatchObject({ report: { expired: 0, erased: 0 } });
      }
      later(2);
      expect(await retention.plan(project)).toMatchObject({ erase: 1, expire: 0 });
      expect(await run({ confirmed: 1 })).toMatchObject({ report: { erased: 1, batch: null } });
      expect(await store.holdsAny(project, [gone])).toBe(false);
      expect(await deleted()).toEqual([again, byHand].sort());
      expect(await auditing()).toEqual(['retention_set 1', 'expire 3', 'purge 1']);
      expect(await auditing(gone)).toEqual(['expire 3', 'purge 1']);
    });

    it('with a clock a year ahead needs a count again, also if something was said since', async () => {
      const { store, session, run, project, active, begun, later } = await retained();
      await begun();
      const ids = [await session(1), await session(2)];
      later(1);
      expect(await run()).toMatchObject({ kind: 'ran' });
      later(365);
      expect(await run()).toMatchObject({ kind: 'unconfirmed', reason: 'clock', plan: { expire: 2 } });
      await session(0);
      expect(await run({ every_ms: dayMs })).toMatchObject({ kind: 'unconfirmed', reason: 'clock' });
      expect(await active()).toEqual(expect.arrayContaining(ids));
      later(-300 * 2);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 0 } });
      await store.deleteSessions(project, await active(), start, null);
    });

    it('by a server whose clock is an hour ahead of that of the store deletes nothing too early', async () => {
      const { session, run, begun, active, later } = await retained(undefined, dayMs / 24);
      await session(91);
      await begun();
      const young = await session(90 + 1 / 48);
      expect(await run()).toMatchObject({ report: { expired: 0 } });
      expect(await active()).toEqual([young]);
      later(1 / 24);
      expect(await run()).toMatchObject({ report: { expired: 1 } });
    });

    it('believes a long time without runs if something was said in each of its weeks', async () => {
      const { session, run, active, begun, later } = await retained();
      await begun();
      for (let week = 0; week < 8; week += 1) {
        later(7);
        await session(0);
      }
      later(45);
      expect(await run()).toMatchObject({ kind: 'unconfirmed', reason: 'clock' });
      await session(40);
      await session(30);
      await session(20);
      await session(8);
      expect(await run()).toMatchObject({ kind: 'ran', report: { expired: 1 } });
      expect(await active()).toHaveLength(11);
    });

    it('of two servers at once runs once, and again when the interval has passed', async () => {
      const place = await newPlace();
      const [one, other] = [await place.open(), await place.open()];
      const { session, run, project, retention, begun, later } = await retained(one);
      await begun();
      for (let count = 0; count < 5; count += 1) await session(91);
      later(1);
      const local = {
        ...{ store: other, limits: defaultLimits, now: () => start + dayMs, sinceBoot, owner },
        ids: new IdSource((size) => crypto.getRandomValues(new Uint8Array(size))),
      };
      const clocked = Object.assign(await other.retention(), { now: async () => start + dayMs });
      const second = new LocalRetention(local as unknown as LocalOptions, clocked);
      const request = {
        ...{ project_id: project, confirmed: null, every_ms: dayMs },
        signal: new AbortController().signal,
      };
      const ends = await Promise.all([run(request), second.run(request)]);
      const ran = ends.flatMap((end) => (end.kind === 'ran' ? [end.report.expired] : []));
      expect(ran).toEqual([5]);
      expect(ends.map(({ kind }) => kind)).toContainEqual(expect.stringMatching(/^(busy|not_due)$/));
      expect(await second.run(request)).toEqual({ kind: 'not_due' });
      later(1);
      expect(await run(request)).toMatchObject({ kind: 'ran', report: { expired: 0 } });
      expect(await retention.batches()).toHaveLength(1);
    });

    it('continues a stopped run with its batch, which takes back all of it', async () => {
      const { store, session, retention, project, active, run } = await retained();
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) ids.push(await session(100 + count));
      await retention.setPolicy(project, after90);
      await store.changeSession(project, ids[2] ?? '', { archived: true });
      const stop = new AbortController();
      const stopped = await run({ confirmed: 3, signal: stop.signal, onStep: () => stop.abort() });
      expect(stopped).toMatchObject({ report: { expired: 2, finished: false } });
      expect(await active()).toEqual([ids[2]]);
      expect(await retention.batches()).toMatchObject([{ expired: 2, ended_at: null }]);
      expect(await run()).toMatchObject({ report: { expired: 3, finished: true, continued: true } });
      const [batch, ...others] = await retention.batches();
      expect(others).toEqual([]);
      const { signal } = new AbortController();
      expect(await retention.restoreBatch(batch?.batch ?? '', { signal })).toBe(3);
      expect(await active()).toEqual(ids.sort());
    });

    it('stops when its policy is changed or removed, and the audit log has what it did', async () => {
      const { store, session, retention, project, active, run } = await retained();
      const archived = await session(200);
      await session(100);
      await store.changeSession(project, archived, { archived: true });
      await retention.setPolicy(project, after90);
      let removed: Promise<unknown> | null = null;
      const end = await run({
        confirmed: 2,
        onStep: () => {
          removed ??= retention.removePolicy(project);
        },
      });
      await removed;
      expect(end).toMatchObject({ report: { expired: 1, finished: false } });
      expect(await active()).toEqual([archived]);
      await store.audit.chain();
      const entries = (await store.audit.read(0)).map(({ entry }) => JSON.parse(entry));
      expect(entries).toContainEqual(
        expect.objectContaining({ what: 'expire', count: 1, project_id: project }),
      );
      expect(entries).toContainEqual(expect.objectContaining({ what: 'retention_off' }));
    });

    it('tells the audit log which sessions expired and which came back, also of a run that never ended', async () => {
      const { store, session, retention, project, run, auditing } = await retained();
      const [listed, archived] = [await session(100), await session(200)];
      await store.changeSession(project, archived, { archived: true });
      await retention.setPolicy(project, after90);
      const stop = new AbortController();
      await run({ confirmed: 2, signal: stop.signal, onStep: () => stop.abort() });
      expect([await auditing(listed), await auditing(archived)]).toEqual([['expire 1'], []]);
      await run();
      const [batch] = await retention.batches();
      const { signal } = new AbortController();
      expect(await retention.restoreBatch(batch?.batch ?? '', { signal })).toBe(2);
      for (const id of [listed, archived]) expect(await auditing(id)).toEqual(['expire 1', 'restore 2']);
    });

    it('is of one project: other projects, and a project that is not there, are left alone', async () => {
      const { store, session, retention, begun } = await retained();
      const other = await newProject(store);
      const theirs = await newSession(store, other, { now: start - 1000 * dayMs });
      await session(100);
      expect(await begun()).toMatchObject({ report: { expired: 1 } });
      expect(await listed(store, other, {})).toEqual([theirs]);
      await expect(retention.setPolicy('prj_none', after90)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
      for (const wrong of [{ after_ms: 0 }, { after_ms: 1.5 }, { keep_last: 0 }, { erase_after_ms: -1 }])
        await expect(retention.setPolicy(other, { ...after90, ...wrong })).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
        });
      expect(await retention.policies()).toHaveLength(1);
    });
  });
}
