// The journal of a batch has one process at work on it, whatever other batches do meanwhile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ImportJournal } from '../../../src/cli/session-batch/import-journal.ts';
import {
  BatchDraft,
  BatchJournal,
  batchDirectory,
  journalPath,
} from '../../../src/cli/session-batch/journal.ts';
import { locks } from '../../support/locks.ts';

const holder = { locks, now: Date.now, random: Math.random };

async function journalOf(directory: string, batch: string): Promise<BatchJournal> {
  const draft = new BatchDraft(directory, batch, holder);
  draft.list.add('ses_1');
  const owner = { origin: 'local', project_id: 'prj_1', key: 'k' };
  const journal = await draft.seal({
    version: 1,
    batch,
    made_at: '',
    ids: 1,
    ignore_missing: false,
    ...owner,
  });
  draft.close();
  return journal;
}

test('the locks of an import stay held when a batch begins', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const seal = {
    ...({ version: 1, kind: 'import', batch: 'imported', made_at: '' } as const),
    ...{ origin: 'local', project_id: 'prj_1', key: 'k' },
    ...{ paths: [], from: null, since: null, match: null, messages_only: false },
  };
  const imported = await ImportJournal.begin(directory, seal, holder);
  const lock = join(batchDirectory(directory), 'imports.lock');
  const release = (await locks())(lock);
  (await journalOf(directory, 'first')).close();
  await expect(ImportJournal.open(directory, 'imported', holder)).rejects.toMatchObject({
    code: 'STORE_BUSY',
  });
  expect((await locks())(lock)).toBe(null);
  release?.();
  imported.close();
});

test('a journal that is open stays locked when another batch begins, and is free once it is closed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const first = await journalOf(directory, 'first');
  const second = await journalOf(directory, 'second');
  const open = () => BatchJournal.open(journalPath(directory, 'first'), 'first', holder);
  await expect(open()).rejects.toMatchObject({ code: 'STORE_BUSY' });
  first.close();
  (await open()).close();
  second.close();
});
