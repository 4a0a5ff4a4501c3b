// The journal of a batch is locked by one process, whatever other batches do.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import {
  createdBy,
  ImportJournal,
  knownImports,
  readImport,
  sharedIds,
} from '../../../src/cli/session-batch/import-journal.ts';
import {
  BatchDraft,
  BatchJournal,
  batchDirectory,
  journalPath,
} from '../../../src/cli/session-batch/journal.ts';
import { KnownBatch } from '../../../src/cli/session-batch/journal-reading.ts';
import { summaryOfComplete } from '../../../src/cli/session-batch/journal-summary.ts';
import { knownBatches } from '../../../src/cli/session-batch/known-batches.ts';
import { locks } from '../../support/locks.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const holder = { locks, now: Date.now, random: Math.random };

const day = 24 * 60 * 60 * 1000;

async function journalOf(
  directory: string,
  batch: string,
  its = holder,
  ids = ['ses_1'],
): Promise<BatchJournal> {
  const draft = new BatchDraft(directory, batch, its);
  for (const id of ids) draft.list.add(id);
  const owner = { origin: 'local', project_id: 'prj_1', key: 'k' };
  const journal = await draft.seal({
    version: 1,
    batch,
    made_at: '',
    ids: ids.length,
    ignore_missing: false,
    ...owner,
  });
  draft.close();
  return journal;
}

const journalsIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => /\.(journal|import)$/.test(name))
    .toSorted();

const seal = {
  ...({ version: 1, kind: 'import', batch: 'imported', made_at: '' } as const),
  ...{ origin: 'local', project_id: 'prj_1', key: 'k' },
  ...{ paths: [], from: null, since: null, match: null, messages_only: false },
};

test('the locks of an import stay locked when a batch begins', async () => {
  const directory = temporaryDirectory();
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
  const directory = temporaryDirectory();
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

test('a clock that is far ahead removes no recent journals, and an old one is removed when there are more than a hundred', async () => {
  const directory = temporaryDirectory();
  const batches = batchDirectory(directory);
  const ahead = { ...holder, now: () => Date.now() + 1000 * day };
  (await ImportJournal.begin(directory, seal, holder)).close();
  (await journalOf(directory, 'first')).close();
  (await journalOf(directory, 'second', ahead)).close();
  (await ImportJournal.begin(directory, { ...seal, batch: 'other' }, ahead)).close();
  const all = ['first.journal', 'imported.import', 'other.import', 'second.journal'];
  expect(journalsIn(batches)).toEqual(all);
  const old = Date.now() / 1000 - (91 * day) / 1000;
  for (const name of ['first.journal', 'imported.import']) utimesSync(join(batches, name), old, old);
  for (let number = 0; number < 100; number += 1)
    for (const type of ['journal', 'import']) writeFileSync(join(batches, `filled${number}.${type}`), '');
  (await journalOf(directory, 'third')).close();
  (await ImportJournal.begin(directory, { ...seal, batch: 'last' }, holder)).close();
  expect(journalsIn(batches).filter((name) => !name.startsWith('filled'))).toEqual([
    'last.import',
    'other.import',
    'second.journal',
    'third.journal',
  ]);
});

test('directories and pipes with the names of journals, drafts and locks stop no batch', async () => {
  const directory = temporaryDirectory();
  const old = Date.now() / 1000 - (91 * day) / 1000;
  for (const type of ['journal', 'draft', 'lock', 'import']) {
    const path = join(batchDirectory(directory), `odd.${type}`);
    mkdirSync(path, { recursive: true });
    utimesSync(path, old, old);
    // Opening a pipe waits for its writer.
    spawnSync('mkfifo', [join(batchDirectory(directory), `pipe.${type}`)]);
    symlinkSync(`loop.${type}`, join(batchDirectory(directory), `loop.${type}`));
  }
  (await journalOf(directory, 'first')).close();
  (await ImportJournal.begin(directory, seal, holder)).close();
  const unreadable: string[] = [];
  const known = [...knownBatches(directory, (path) => unreadable.push(path))];
  expect(known.map(({ seal }) => seal.batch)).toEqual(['first']);
  const odd = ['pipe', 'odd', 'loop'];
  expect(unreadable).toEqual(odd.map((name) => journalPath(directory, name)));
  expect(knownImports(directory).map(({ seal }) => seal.batch)).toEqual(['imported']);
  for (const name of odd) {
    await expect(KnownBatch.open(directory, name, holder)).rejects.toMatchObject({ code: 'USAGE' });
    expect(() => readImport(directory, name)).toThrow('There is no import');
  }
});

test('a batch of which nothing is left is listed from the end of its journal, as its whole journal says', async () => {
  const directory = temporaryDirectory();
  const journal = await journalOf(directory, 'first', holder, ['ses_1', 'ses_2', 'ses_3']);
  const path = journalPath(directory, 'first');
  const read = () => {
    const file = openSync(path, 'r');
    onTestFinished(() => closeSync(file));
    const all = new KnownBatch(file, path, 'first').summary;
    expect([...knownBatches(directory, () => {})]).toEqual([all]);
    return { all, end: summaryOfComplete(file, 'first') };
  };
  await journal.mark(3);
  const result = (number: number, status: string) => ({ number, status });
  journal.record([result(0, 'deleted'), result(1, 'failed'), result(2, 'not_found')]);
  journal.settle();
  expect(read()).toMatchObject({ all: { done: 1, missing: 1, left: 1 }, end: null });
  journal.recordRestored(1, 0);
  journal.close();
  const resumed = (await KnownBatch.open(directory, 'first', holder)).journal;
  resumed.record([result(1, 'deleted')]);
  resumed.settle();
  resumed.recordPrinted(3);
  resumed.flush();
  const restored = { sessions: 1, at: '1970-01-01T00:00:00.000Z' };
  const { all, end } = read();
  expect(all).toMatchObject({ done: 2, missing: 1, left: 0, doubtful: 0, restored });
  expect(end).toEqual(all);
  resumed.recordRestored(2, 1);
  resumed.close();
  (await KnownBatch.open(directory, 'first', holder)).journal.close();
  const undone = read();
  expect(undone.all.restored).toEqual({ sessions: 2, at: '1970-01-01T00:00:00.001Z' });
  expect(undone.end).toEqual(undone.all);
  appendFileSync(path, 'complete 18 3');
  expect(read().end).toEqual(undone.all);
  appendFileSync(path, '\nnew\n');
  expect(read()).toEqual({ all: undone.all, end: null });
});

test('an undo whose line a crash has cut counts as none', async () => {
  const directory = temporaryDirectory();
  const journal = await journalOf(directory, 'first');
  await journal.mark(1);
  journal.record([{ number: 0, status: 'deleted' }]);
  journal.settle();
  journal.close();
  const imported = await ImportJournal.begin(directory, seal, holder);
  await imported.record('ses_1', 1);
  imported.close();
  const restored = 'restored 1 2026-11-28T15:19:15.869Z';
  for (let length = 1; length < restored.length; length += 1) {
    appendFileSync(journal.path, restored.slice(0, length));
    const { known, journal: again } = await KnownBatch.open(directory, 'first', holder);
    again.close();
    appendFileSync(imported.path, restored.slice(0, length));
    (await ImportJournal.open(directory, seal.batch, holder)).close();
    const listed = [...knownBatches(directory, () => {})].map((batch) => batch.restored);
    const imports = knownImports(directory);
    expect([known.summary.restored, ...listed, imports[0]?.restored]).toEqual([null, null, null]);
    expect([...(imports[0]?.created.keys() ?? [])]).toEqual(['ses_1']);
  }
});

test('a session that several imports recorded was created by the last of them', async () => {
  const directory = temporaryDirectory();
  for (const [batch, at, ids] of [
    ['first', 1, ['ses_1', 'ses_2']],
    ['second', 3, ['ses_2']],
    ['third', 2, ['ses_2', 'ses_3']],
  ] as const) {
    const journal = await ImportJournal.begin(directory, { ...seal, batch }, holder);
    for (const id of ids) await journal.record(id, at);
    journal.close();
  }
  const all = knownImports(directory);
  const created = (shared?: ReadonlySet<string>) =>
    Object.fromEntries(all.map((known) => [known.seal.batch, createdBy(known, all, shared)]));
  expect(created()).toEqual({ first: ['ses_1'], second: ['ses_2'], third: ['ses_3'] });
  expect(created(sharedIds(all))).toEqual(created());
});
