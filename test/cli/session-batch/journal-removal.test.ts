// Journals are removed when their sessions are erased, whatever else is in the directory.
import { existsSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ImportJournal, knownImports } from '../../../src/cli/session-batch/import-journal.ts';
import { BatchDraft, batchDirectory, journalPath } from '../../../src/cli/session-batch/journal.ts';
import { removeJournals } from '../../../src/cli/session-batch/journal-removal.ts';
import { locks } from '../../support/locks.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const origin = 'local';
const now = Date.parse('2026-05-01T00:00:00.000Z');

async function journalOf(directory: string, batch: string, project_id: string, ids = ['ses_1']) {
  const draft = new BatchDraft(directory, batch, {
    locks,
    now: () => now,
    random: Math.random,
  });
  for (const id of ids) draft.list.add(id);
  const owner = { origin, project_id, key: 'k' };
  const seal = { version: 1, batch, made_at: '', ids: ids.length, ignore_missing: false, ...owner } as const;
  (await draft.seal(seal)).close();
  draft.close();
  utimesSync(journalPath(directory, batch), now / 1000, now / 1000);
}

it('journals of the project without a remaining session are removed, and unreadable ones are skipped', async () => {
  const directory = temporaryDirectory();
  await journalOf(directory, 'ours', 'prj_1');
  await journalOf(directory, 'theirs', 'prj_2');
  const many = Array.from({ length: 2500 }, (_, index) => `ses_${index + 10}`);
  await journalOf(directory, 'all-erased', 'prj_1', many);
  await journalOf(directory, 'last-left', 'prj_1', [...many, 'ses_left']);
  await journalOf(directory, 'early-left', 'prj_1', ['ses_left', ...many]);
  const projects: string[] = [];
  const failed: string[] = [];
  const holdsAny = async (projectId: string, ids: readonly string[]) => {
    expect(ids.length).toBeLessThanOrEqual(1000);
    projects.push(projectId);
    return ids.includes('ses_left');
  };
  symlinkSync('/nowhere', join(batchDirectory(directory), 'gone.journal'));
  const odd = join(batchDirectory(directory), 'a-directory.journal');
  mkdirSync(odd);
  utimesSync(odd, now / 1000, now / 1000);
  const removed = await removeJournals(directory, {
    origin,
    project_id: 'prj_1',
    before: now + 1,
    holdsAny,
    locks,
    onFailure: (path) => failed.push(path),
  });
  expect(failed).toEqual([]);
  expect([...removed].sort()).toEqual(['all-erased', 'ours']);
  for (const batch of removed) expect(existsSync(journalPath(directory, batch))).toBe(false);
  for (const batch of ['theirs', 'last-left', 'early-left']) {
    expect(existsSync(journalPath(directory, batch))).toBe(true);
  }
  expect(new Set(projects)).toEqual(new Set(['prj_1']));
  expect(existsSync(odd)).toBe(true);
});

it('journals of imports without a remaining session are removed, except those in use and those without a created session', async () => {
  const directory = temporaryDirectory();
  const begun = async (batch: string, ids: readonly string[], project_id = 'prj_1') => {
    const request = { paths: ['/Jane'], from: null, since: null, match: 'Jane', messages_only: false };
    const owner = { origin, project_id, key: 'k' };
    const seal = { version: 1, kind: 'import', batch, made_at: '', ...owner, ...request } as const;
    const journal = await ImportJournal.begin(directory, seal, {
      locks,
      now: () => now,
      random: Math.random,
    });
    await Promise.all(ids.map((id) => journal.record(id, now)));
    return journal;
  };
  for (const [batch, ids] of [
    ['erased', ['ses_1']],
    ['left', ['ses_1', 'ses_left']],
    ['empty', []],
  ] as const)
    (await begun(batch, ids)).close();
  (await begun('theirs', ['ses_1'], 'prj_2')).close();
  const used = await begun('used', ['ses_1']);
  const holdsAny = async (_: string, ids: readonly string[]) => ids.includes('ses_left');
  const failed: string[] = [];
  const onFailure = (path: string) => failed.push(path);
  const erased = { origin, project_id: 'prj_1', before: now + 1, holdsAny, locks, onFailure };
  expect([await removeJournals(directory, erased), failed]).toEqual([['erased'], []]);
  expect(
    knownImports(directory)
      .map(({ seal }) => seal.batch)
      .sort(),
  ).toEqual(['empty', 'left', 'theirs', 'used']);
  used.close();
});
