// Journals that are removed once their sessions are erased, whatever else lies beside them.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BatchDraft, batchDirectory, journalPath } from '../../../src/cli/session-batch/journal.ts';
import { removeJournals } from '../../../src/cli/session-batch/journal-removal.ts';

const origin = 'local';
const now = Date.parse('2026-05-01T00:00:00.000Z');

function journalOf(directory: string, batch: string, project_id: string): void {
  const draft = new BatchDraft(directory, batch, {
    owner: { name: 'test', stateOf: () => 'running' },
    now: () => now,
  });
  draft.list.add('ses_1');
  const owner = { origin, project_id, key: 'k' };
  const seal = { version: 1, batch, made_at: '', ids: 1, ignore_missing: false, ...owner } as const;
  draft.seal(seal).close();
  draft.close();
  utimesSync(journalPath(directory, batch), now / 1000, now / 1000);
}

it('removes those of the project, past what cannot be read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-journals-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  journalOf(directory, 'ours', 'prj_1');
  journalOf(directory, 'theirs', 'prj_2');
  symlinkSync('/nowhere', join(batchDirectory(directory), 'gone.journal'));
  const odd = join(batchDirectory(directory), 'a-directory.journal');
  mkdirSync(odd);
  utimesSync(odd, now / 1000, now / 1000);
  expect(removeJournals(directory, { origin, project_id: 'prj_1', before: now + 1 })).toEqual(['ours']);
  expect(existsSync(journalPath(directory, 'theirs'))).toBe(true);
  expect(existsSync(odd)).toBe(true);
});
