// The audit log of every store: what is told, and that a change of it is found.
import { describe, expect, it } from 'vitest';
import { sessionMark } from '../../src/local/audit-chain.ts';
import { LocalAudit } from '../../src/local/local-audit.ts';
import type { AuditEntry, AuditQuery } from '../../src/service/audit-entry.ts';
import type { AuditLog, AuditOrigin, AuditRow, SessionStore } from '../../src/store/session-store.ts';
import type { NewPlace } from './every-store.ts';
import { at, newKey, newSession, once, recordOf, startOfTime } from './store-samples.ts';

const everything: AuditQuery = {
  ...{ since: null, until: null, project_id: null, what: null, session_id: null },
};
const by: AuditOrigin = { time: startOfTime, key_id: 'key_mine', request_id: 'req_mine' };

async function entriesOf(
  { audit }: SessionStore,
  query: Partial<AuditQuery> = {},
): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of new LocalAudit(audit).entries({ ...everything, ...query })) entries.push(entry);
  return entries;
}

const marks = (...ids: readonly string[]) => ids.map(sessionMark).sort();

/** A log with these rows. */
function logOf(rows: readonly AuditRow[], head: AuditRow | undefined): AuditLog {
  return {
    record: async () => {},
    chain: async () => {},
    read: async (after) => rows.filter(({ number }) => number > after).slice(0, 3),
    head: async () => head ?? null,
  };
}

export function describeAudits(name: string, newPlace: NewPlace): void {
  const open = async () => (await newPlace()).open();

  describe(`${name}: the audit log`, () => {
    it('is chained up to what waits, while imports go on', async () => {
      const store = await open();
      const { project_id: project } = await store.createKey(newKey());
      const ids = Array.from({ length: 480 }, (_, index) => `ses_${index}`);
      const next = ids.values();
      let [imported, importedBefore] = [0, 0];
      let chaining: Promise<void> | null = null;
      const importAll = async () => {
        for (const id of next) {
          await store.importSession(project, recordOf(id, ['hi'], 'A title'), null, by);
          imported += 1;
          chaining ??= store.audit.chain().then(() => {
            importedBefore = imported;
          });
        }
      };
      await Promise.all(Array.from({ length: 48 }, importAll));
      await chaining;
      const entries = await entriesOf(store, { what: 'import' });
      expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(ids.length);
      expect(importedBefore).toBeLessThan(ids.length);
    });

    it('tells of what was deleted, restored, imported and erased, of keys, and of nothing else', async () => {
      const store = await open();
      const key = newKey();
      const { project_id: project } = await store.createKey(key);
      const [one, two, three] = [
        await newSession(store, project),
        await newSession(store, project),
        await newSession(store, project),
      ];
      await store.deleteSession(project, one, startOfTime + 1, by);
      await store.deleteSession(project, one, startOfTime + 1, by);
      const batch = () => store.deleteSessions(project, [two, 'none', three], startOfTime, once('batch'), by);
      await batch();
      await batch();
      await store.restoreSessions(project, [two], null, by);
      await store.restoreSession(project, three, null, by);
      const records = ['a', 'b', 'c'].map((id) => recordOf(`ses_${id}`, ['hello', 'hi'], 'A title'));
      for (const record of records) await store.importSession(project, record, null, by);
      await store.importSession(project, records[0] as (typeof records)[0], null, by);
      await store.purgeSessions(
        { projectId: project, deletedBefore: startOfTime + 2 },
        { expected: 1, keptSince: 0, by: { ...by, key_id: null } },
      );
      await store.revokeKey(key.key_id, startOfTime + 9);
      const entries = await entriesOf(store);
      expect(entries.map(({ what, count, ids, key_id }) => [what, count, ids.toSorted(), key_id])).toEqual([
        ['key_created', 1, [key.key_id], null],
        ['delete', 1, marks(one), 'key_mine'],
        ['delete', 2, marks(two, three), 'key_mine'],
        ['restore', 1, marks(two), 'key_mine'],
        ['restore', 1, marks(three), 'key_mine'],
        ['import', 3, marks('ses_a', 'ses_b', 'ses_c'), 'key_mine'],
        ['purge', 1, [], null],
        ['key_revoked', 1, [key.key_id], null],
      ]);
      expect(entries[1]).toMatchObject({
        ...{ number: 2, time: at(0), project_id: project, request_id: 'req_mine' },
      });
      expect(JSON.stringify(entries)).not.toMatch(/hello|title|ses_/);
      const ofOne = await entriesOf(store, { session_id: two });
      expect(ofOne.map(({ what }) => what)).toEqual(['delete', 'restore']);
      expect(await new LocalAudit(store.audit).verify(null)).toMatchObject({ entries: 8, faults: [] });
    });

    it('is filtered by time, project and action', async () => {
      const store = await open();
      const first = await store.createKey(newKey());
      const second = await store.createKey(newKey({ now: startOfTime + 5 }));
      await store.revokeKey(first.key_id, startOfTime + 9);
      const numbers = async (query: Partial<AuditQuery>) =>
        (await entriesOf(store, query)).map(({ number }) => number);
      expect(await numbers({ since: at(5) })).toEqual([2, 3]);
      expect(await numbers({ until: at(5) })).toEqual([1]);
      expect(await numbers({ project_id: second.project_id })).toEqual([2]);
      expect(await numbers({ what: 'key_revoked' })).toEqual([3]);
    });

    it('stays one chain without gaps while two stores record and chain at once', async () => {
      const place = await newPlace();
      const stores = [await place.open(), await place.open()];
      const [first = stores[0]] = stores;
      const { project_id: project } = await (first as SessionStore).createKey(newKey());
      await Promise.all(
        stores.flatMap((store, number) =>
          Array.from({ length: 15 }, async (_, index) => {
            await store.audit.record({
              ...by,
              what: 'delete',
              project_id: project,
              count: 1,
              ids: [`${number} ${index}`],
            });
            await store.audit.chain();
          }),
        ),
      );
      const { entries, faults } = await new LocalAudit((first as SessionStore).audit).verify(null);
      expect({ entries, faults }).toEqual({ entries: 31, faults: [] });
    });

    it('chains entries of many sessions, which are longer than one transaction takes, in their order', async () => {
      const store = await open();
      const { project_id } = await store.createKey(newKey());
      const ids = Array.from({ length: 10_000 }, (_, index) => `ses_${String(index).padStart(26, '0')}`);
      for (const count of [10_000, 9_000, 1, 8_000])
        await store.audit.record({ ...by, what: 'delete', project_id, count, ids: ids.slice(0, count) });
      const entries = await entriesOf(store, { what: 'delete' });
      expect(entries.map(({ ids }) => ids.length)).toEqual([10_000, 9_000, 1, 8_000]);
      expect(await new LocalAudit(store.audit).verify(null)).toMatchObject({ entries: 5, faults: [] });
    });

    it('shows each entry that was changed, dropped, reordered or cut off', async () => {
      const store = await open();
      for (let key = 0; key < 6; key += 1) await store.createKey(newKey());
      await store.audit.chain();
      const rows = await store.audit.read(0);
      const head = rows.at(-1);
      const noted = rows[4] ?? null;
      const faults = async (changed: readonly AuditRow[], end = head) =>
        (await new LocalAudit(logOf(changed, end)).verify(noted)).faults.map(
          ({ number, problem }) => `${number} ${problem}`,
        );
      expect(await faults(rows)).toEqual([]);
      const changed = rows.map((row) => (row.number === 3 ? { ...row, entry: `${row.entry} ` } : row));
      expect(await faults(changed)).toEqual(['3 changed']);
      expect(await faults(rows.filter(({ number }) => number !== 2))).toEqual(['2 missing']);
      const turned = rows.map((row) => ({
        ...row,
        number: row.number === 2 ? 3 : row.number === 3 ? 2 : row.number,
      }));
      expect(await faults(turned.toSorted((one, other) => one.number - other.number))).toEqual([
        ...['2 changed', '3 changed', '4 changed'],
      ]);
      expect(await faults(rows.slice(0, -1))).toEqual(['6 missing']);
      // Also the head beside the chain was set back: only a head that was noted elsewhere tells of that.
      expect(await faults(rows.slice(0, 4), rows[3])).toEqual(['5 missing']);
    });
  });
}
