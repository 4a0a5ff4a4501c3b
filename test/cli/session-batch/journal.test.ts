// The journal of a batch has one process at work on it, whatever other batches do meanwhile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { ImportJournal, readImport } from '../../../src/cli/session-batch/import-journal.ts';
import {
  BatchDraft,
  BatchJournal,
  batchDirectory,
  journalPath,
} from '../../../src/cli/session-batch/journal.ts';
import { locks } from '../../support/locks.ts';
import { SmallDisk } from '../../support/small-disk.ts';

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

const seal = {
  ...({ version: 1, kind: 'import', batch: 'imported', made_at: '' } as const),
  ...{ origin: 'local', project_id: 'prj_1', key: 'k' },
  ...{ paths: [], from: null, since: null, match: null, messages_only: false },
};

test('the locks of an import stay held when a batch begins', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
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

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

test.skipIf(disk === null)(
  'after a failed write, no session is joined to the cut line of another',
  async () => {
    const directory = disk?.path ?? '';
    const journal = await ImportJournal.begin(directory, seal, holder);
    onTestFinished(() => journal.close());
    disk?.fill(1);
    const id = (index: number) => `ses_${String(index).padStart(40, '0')}`;
    const recorded = Array.from({ length: 200 }, (_, index) => journal.record(id(index), 1));
    for (const one of recorded) await expect(one).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    disk?.free();
    await expect(journal.record(id(200), 1)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    const known = [...readImport(directory, 'imported').created];
    expect(known.filter(([sessionId, at]) => sessionId.length !== id(0).length || at !== 1)).toEqual([]);
  },
);
