// File operations that fail, as on a broken disk: the error names the file and a code, and says what was done before.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { schema } from '../../src/store/sqlite/schema.ts';
import { batch } from '../support/chat-batch.ts';
import { expectFailure } from '../support/failures.ts';
import type { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { lookInto } from '../support/raw-database.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { storeOptions } from '../support/store-options.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

/** A call of `fs` that fails with a code for paths with this ending. */
async function withFailing(
  call: string,
  end: string,
  code: string,
  words: readonly string[],
  stdin?: string,
  at = place,
) {
  const preload = join(place.path, 'failing.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
     const fails = (path) => String(path).endsWith(${JSON.stringify(end)});
     const failure = (path) => Object.assign(new Error('${code}: i/o error, ${call}'),
       { code: '${code}', syscall: '${call.replace('Sync', '')}', path: String(path) });
     for (const [room, isLate] of [[fs, false], [fs.promises, true]]) {
       const usual = room.${call};
       if (usual) room.${call} = function (...words) {
         if (!fails(words[0])) return usual.apply(this, words);
         if (isLate) return Promise.reject(failure(words[0]));
         throw failure(words[0]);
       };
     }`,
  );
  const env = { NODE_OPTIONS: `--require ${preload}` };
  return at.parley(words, { env, ...(stdin !== undefined && { stdin }) });
}

describe('parley sessions export', () => {
  test('succeeds if the file is complete and only its partial file cannot be removed', async () => {
    const session = await place.newSession();
    const file = join(place.path, 'out.jsonl');
    const words = ['sessions', 'export', session, '--format', 'json', '-o', file];
    expect((await withFailing('rmSync', '.part', 'EIO', words)).status).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).session.session_id).toBe(session);
  });

  test('reports why it failed, not that its partial file cannot be removed', async () => {
    const words = ['sessions', 'export', 'ses_none', '-o', join(place.path, 'none.md')];
    expectFailure(await withFailing('rmSync', '.part', 'EIO', words), {
      status: 5,
      code: 'SESSION_NOT_FOUND',
    });
  });

  test('fails with STORAGE_FULL if the quota is used up', async () => {
    const words = ['sessions', 'export', await place.newSession(), '-o', join(place.path, 'quota.md')];
    expectFailure(await withFailing('openSync', '.part', 'EDQUOT', words), {
      status: 7,
      code: 'STORAGE_FULL',
    });
  });
});

test.each([
  ['a lock', 'openSync', '.lock', 'ESTALE'],
  ['the journal', 'openSync', '.journal', 'EACCES'],
])(
  'a deletion that cannot open %s (%s %s %s) names it and deletes nothing',
  async (_what, call, end, code) => {
    const ids = [await place.newSession(), await place.newSession()];
    const outcome = await withFailing(call, end, code, ['sessions', 'delete', ...ids, '--yes']);
    expectFailure(outcome, { status: 2, code: 'CONFIG' });
    expect(outcome.err).toMatch(new RegExp(`^parley: /.*\\${end} .*${code}`, 'm'));
    expect(await place.output(['sessions', 'list', '--ids'])).toContain(ids[0]);
  },
);

test.each([
  ['EIO', 2, 'CONFIG'],
  ['EDQUOT', 7, 'STORAGE_FULL'],
])('the error of a batch whose directory cannot be created (%s) names it', async (code, status, expected) => {
  const words = [...batch, '--resume', join(place.path, 'batch.ndjson')];
  const outcome = await withFailing('mkdirSync', 'chat-batches', code, words, 'a\n');
  expectFailure(outcome, { status, code: expected });
  expect(outcome.err).toContain('chat-batches');
});

/** Runs the command with a preload that makes appended text fail with EIO where `fails` (an expression on `text`) is true. */
async function withFailingText(fails: string, words: readonly string[], stdin: string) {
  const preload = join(place.path, 'failing-text.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
     const failure = () => Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' });
     const fails = (text) => ${fails};
     const append = fs.appendFileSync;
     fs.appendFileSync = (file, text) => { if (fails(String(text))) throw failure(); return append(file, text); };
     const open = fs.promises.open;
     fs.promises.open = async (...words) => {
       const file = await open(...words);
       const usual = file.appendFile;
       file.appendFile = async (text) => { if (fails(String(text))) throw failure(); return usual.call(file, text); };
       return file;
     };`,
  );
  return place.parley(words, { env: { NODE_OPTIONS: `--require ${preload}` }, stdin });
}

test('a deletion whose journal fails midway does not end as if nothing was done', async () => {
  const ids = [await place.newSession(), await place.newSession()];
  const words = ['sessions', 'delete', '-', '--yes'];
  const { status, out, err } = await withFailingText(`/deleted/.test(text)`, words, ids.join('\n'));
  expect({ status, out }).toEqual({ status: 7, out: ids.map((id) => `deleted ${id}\n`).join('') });
  expect(err).toMatch(/\.journal cannot be written \(EIO\)\. \(STORE_UNSAFE\)/);
});

test('a resumed batch whose results cannot be written midway does not end as if nothing was done', async () => {
  const words = [...batch, '--resume', join(place.path, 'midway.ndjson')];
  const { status, err } = await withFailingText(`text.includes('"id":2')`, words, 'a\nb\n');
  expect(status).toBe(1);
  expect(err).toContain('midway.ndjson could not be written: EIO');
});

test.each([
  ['ENOSPC', 'STORAGE_FULL'],
  ['EIO', 'STORE_UNSAFE'],
])(
  'a failed copy before a migration (%s) is reported as %s, and the store is not changed',
  async (code, expected) => {
    const own = new PlaceInProcess();
    const { store } = await openSqliteStore({
      ...storeOptions(own.dataDirectory),
      migrations: schema.slice(0, -1),
    });
    await store.close();
    const outcome = await withFailing('openSync', '.backup-part', code, ['models'], undefined, own);
    expectFailure(outcome, { status: 7, code: expected });
    expect(versionOf(own)).toBe(schema.length - 1);
    expect((await own.parley(['models'])).status).toBe(0);
    own.remove();
  },
);

function versionOf({ storeFile }: Place): unknown {
  return lookInto(storeFile, (database) => database.pragma('user_version', { simple: true }));
}

const trial = SmallDisk.mount();
trial?.unmount();

test.skipIf(trial === null)(
  'a store on a full disk is not changed by a migration, and is migrated when there is room',
  async () => {
    const disk = SmallDisk.mount();
    if (disk === null) return;
    try {
      const own = new PlaceInProcess({ data: join(disk.path, 'data') });
      const { store } = await openSqliteStore({
        ...storeOptions(own.dataDirectory),
        migrations: schema.slice(0, -1),
      });
      await store.close();
      const before = versionOf(own);
      for (const pagesLeft of [0, 10]) {
        disk.fill(pagesLeft);
        expectFailure(await own.parley(['models']), { status: 7, code: 'STORAGE_FULL' });
        expect(readdirSync(own.dataDirectory).filter((name) => name.includes('backup'))).toEqual([]);
        disk.free();
        expect(versionOf(own)).toBe(before);
      }
      expect((await own.parley(['models'])).status).toBe(0);
      expect(versionOf(own)).toBe(schema.length);
      own.remove();
    } finally {
      disk.unmount();
    }
  },
);

test('an import ends at a journal that cannot be written, instead of failing each session', async () => {
  const conversation = (uuid: string) => ({
    ...{ uuid, name: uuid, created_at: '2024-01-01T00:00:00Z', updated_at: '2024-01-01T00:00:00Z' },
    chat_messages: [{ uuid: `${uuid}-1`, sender: 'human', text: 'Hi', created_at: '2024-01-01T00:00:00Z' }],
  });
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, JSON.stringify([conversation('one'), conversation('two')]));
  const words = ['sessions', 'import', file];
  const run = await withFailing('writeFileSync', '.import', 'EIO', words);
  expectFailure(run, { status: 2, code: 'CONFIG' });
  expect(run.out).toBe('');
});
