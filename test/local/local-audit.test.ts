// An audit log with invalid entries, as in a damaged file: the valid entries are listed and chained, and the check reports the invalid ones.
import { expect, it, onTestFinished } from 'vitest';
import { hashKey } from '../../src/local/api-keys.ts';
import { chainEntries } from '../../src/local/audit-chain.ts';
import { LocalAudit } from '../../src/local/local-audit.ts';
import { type AuditEntry, type AuditQuery, auditedActions } from '../../src/service/audit-entry.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import { noConditions } from '../../src/service/session-archive.ts';
import { type AuditRow, auditPage, noteText } from '../../src/store/audit-log.ts';
import { callWith, failureOf, say } from '../support/calls.ts';
import { openEmbedded, temporaryDirectory } from '../support/embedded.ts';

const damaged = ['', '[', '5', 'null', '{}', '{"what":"delete"}', '{"what":"import","ids":[5]}', '[[]]'];
const sound = noteText({
  ...{ time: 0, key_id: null, request_id: null, project_id: 'prj_1' },
  ...{ what: 'import', count: 1, ids: ['ses_1'] },
});
const everything = { since: null, until: null, project_id: null, what: null, session_id: null };

function logOf(
  rows: readonly AuditRow[],
  { head = rows.at(-1) ?? null, onRead }: { head?: AuditRow | null; onRead?: (rows: number) => void } = {},
): LocalAudit {
  return new LocalAudit({
    record: async () => {},
    chain: async () => {},
    read: async (after) => {
      const page = rows.filter(({ number }) => number > after).slice(0, auditPage);
      onRead?.(page.length);
      return page;
    },
    head: async () => head,
  });
}

it.each(damaged)(
  'an entry %j is left out of the listing, does not affect an import beside it, and is reported by the check',
  async (text) => {
    const log = logOf(chainEntries(null, [sound, text, sound]));
    for (const session_id of [null, 'ses_1']) {
      const entries: AuditEntry[] = [];
      for await (const entry of log.entries({ ...everything, session_id })) entries.push(entry);
      expect(entries).toMatchObject([
        { number: 1, count: 1 },
        { number: 3, count: 1 },
      ]);
    }
    expect((await log.verify(null)).faults).toEqual([{ number: 2, problem: 'unreadable' }]);
  },
);

it('no action stores the id of a session in the log, and each is found by it', async () => {
  const ofSessions = auditedActions.filter((what) => !what.startsWith('key_') && what !== 'refused_login');
  const facts = { time: 0, key_id: null, request_id: null, project_id: 'prj_1', count: 1, ids: ['ses_1'] };
  const rows = chainEntries(
    null,
    ofSessions.map((what) => noteText({ ...facts, what })),
  );
  const found: AuditEntry[] = [];
  for await (const entry of logOf(rows).entries({ ...everything, session_id: 'ses_1' })) found.push(entry);
  expect(found.map(({ what }) => what)).toEqual(ofSessions);
  expect(JSON.stringify(rows)).not.toContain('ses_1');
});

it('the newest entries are found in a long log, and only its end is read', async () => {
  const odd = noteText({ ...JSON.parse(sound), time: 0, what: 'purge' });
  const rows = chainEntries(
    null,
    Array.from({ length: 3_500 }, (_, index) => (index % 2 === 0 ? sound : odd)),
  );
  const numbers = async (log: LocalAudit, query: Partial<AuditQuery>, limit: number) =>
    (await log.newestEntries({ ...everything, ...query }, limit)).map(({ number }) => number);
  let read = 0;
  const log = logOf(rows, { onRead: (count) => (read += count) });
  expect(await numbers(log, {}, 3)).toEqual([3_498, 3_499, 3_500]);
  expect(read).toBe(3);
  expect(await numbers(log, { what: 'import' }, 3)).toEqual([3_495, 3_497, 3_499]);
  expect(await numbers(log, {}, 3_499)).toHaveLength(3_499);
  expect(await numbers(log, {}, 10_000)).toEqual(rows.map(({ number }) => number));
  expect(await numbers(log, { session_id: 'ses_unknown' }, 1)).toEqual([]);
  // A damaged log: without its head, with an older one, and with a gap.
  for (const head of [null, rows[9] ?? null])
    expect(await numbers(logOf(rows, { head }), {}, 2)).toEqual([3_499, 3_500]);
  const withGap = logOf(rows.filter(({ number }) => number < 10 || number > 3_400));
  expect(await numbers(withGap, {}, 102)).toEqual([8, 9, ...rows.slice(3_400).map(({ number }) => number)]);
  expect(await numbers(logOf([]), {}, 2)).toEqual([]);
});

it('an export of more than a thousand sessions is found by each of them', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const { administration, close } = await openEmbedded(directory.path);
  onTestFinished(close);
  const { project_id, key_id } = await administration.createKey({ project_name: 'one', key_name: 'test' });
  const session_ids = Array.from({ length: 2_001 }, (_, index) => `ses_${index}`);
  await administration.recordExport({ project_id, key_id, session_ids });
  const query = { ...everything, what: 'export' } as const;
  const counts: number[] = [];
  for await (const { count, ids } of administration.auditEntries(query)) {
    expect(ids).toHaveLength(count);
    counts.push(count);
  }
  expect(counts).toEqual([1_000, 1_000, 1]);
  for (const session_id of ['ses_0', 'ses_1999', 'ses_2000']) {
    const found: AuditEntry[] = [];
    for await (const entry of administration.auditEntries({ ...query, session_id })) found.push(entry);
    expect(found).toHaveLength(1);
  }
});

const checkedByStore: Readonly<Record<string, (backend: EmbeddedBackend, call: Call) => Promise<unknown>>> = {
  createSession: ({ service }, call) => service.createSession(call, { title: null }),
  getSession: ({ service }, call) => service.getSession(call, 'ses_1'),
  deleteSession: ({ service }, call) => service.deleteSession(call, 'ses_1'),
  'a chat in a mode': ({ service }, call) => say(service, call, 'hello'),
  'a chat in the mode of a session': ({ service }, call) => say(service, call, 'hello', 'ses_1', null),
  searchSessions: ({ archive }, call) =>
    archive.searchSessions(call, { ...noConditions, query: 'hello', limit: 10, cursor: null }),
};

it.each(Object.keys(checkedByStore))(
  '%s with a key that was used before it was revoked is recorded as a refused login',
  async (name) => {
    const directory = await temporaryDirectory();
    onTestFinished(directory.remove);
    const backend = await openEmbedded(directory.path);
    onTestFinished(backend.close);
    const { service, administration } = backend;
    const { key, key_id } = await administration.createKey({ project_name: 'one', key_name: 'test' });
    const call = callWith(key);
    await service.verify(call);
    await administration.revokeKey(key_id);
    expect(await failureOf(checkedByStore[name]?.(backend, call) ?? Promise.resolve())).toMatchObject({
      code: 'INVALID_API_KEY',
    });
    const refusals = async () => {
      const entries: AuditEntry[] = [];
      for await (const entry of administration.auditEntries({ ...everything, what: 'refused_login' }))
        entries.push(entry);
      return entries;
    };
    const hash = Buffer.from(hashKey(key)).toString('hex');
    // No call waits for the entry.
    await expect.poll(refusals).toMatchObject([{ count: 1, ids: [hash.slice(0, 12)] }]);
  },
);
