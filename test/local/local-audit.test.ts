// An audit log with invalid entries, as in a damaged file: the valid entries are listed and chained, and the check reports the invalid ones.
import { expect, it, onTestFinished } from 'vitest';
import { chained } from '../../src/local/audit-chain.ts';
import { LocalAudit } from '../../src/local/local-audit.ts';
import { type AuditEntry, auditedActions } from '../../src/service/audit-entry.ts';
import { type AuditRow, noteText } from '../../src/store/audit-log.ts';
import { openEmbedded, temporaryDirectory } from '../support/embedded.ts';

const damaged = ['', '[', '5', 'null', '{}', '{"what":"delete"}', '{"what":"import","ids":[5]}', '[[]]'];
const sound = noteText({
  ...{ time: 0, key_id: null, request_id: null, project_id: 'prj_1' },
  ...{ what: 'import', count: 1, ids: ['ses_1'] },
});
const everything = { since: null, until: null, project_id: null, what: null, session_id: null };

function logOf(rows: readonly AuditRow[]): LocalAudit {
  return new LocalAudit({
    record: async () => {},
    chain: async () => {},
    read: async (after) => rows.filter(({ number }) => number > after),
    head: async () => rows.at(-1) ?? null,
  });
}

it.each(damaged)(
  'an entry %j is left out of the listing, does not affect an import beside it, and is reported by the check',
  async (text) => {
    const log = logOf(chained(null, [sound, text, sound]));
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
  const rows = chained(
    null,
    ofSessions.map((what) => noteText({ ...facts, what })),
  );
  const found: AuditEntry[] = [];
  for await (const entry of logOf(rows).entries({ ...everything, session_id: 'ses_1' })) found.push(entry);
  expect(found.map(({ what }) => what)).toEqual(ofSessions);
  expect(JSON.stringify(rows)).not.toContain('ses_1');
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
