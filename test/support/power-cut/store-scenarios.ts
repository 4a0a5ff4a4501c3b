// The store as a whole: its keys, the copy before a migration, and erased data.

import { existsSync } from 'node:fs';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { RawDatabase } from '../raw-database.ts';
import { storeOptions } from '../store-options.ts';
import { echo, expected, type Scenario, useOnce } from './scenario.ts';

function keyCreation(): Scenario {
  return {
    name: 'keys create',
    async prepare(place) {
      await useOnce(place);
      return { words: ['keys', 'create', '--project', 'new'] };
    },
    async faults(place, { out }) {
      const key = /^pk_\S+(?=\n)/m.exec(out)?.[0];
      if (key === undefined) return expected(place, ['verify']);
      const { status, err } = await place.parley(['verify'], { env: { PARLEY_API_KEY: key } });
      return status === 0 ? [] : [`the key is refused: ${err}`];
    },
  };
}

function keyRevocation(): Scenario {
  let key = '';
  return {
    name: 'keys revoke',
    async prepare(place) {
      await useOnce(place);
      const made = await place.answer<{ readonly key: string; readonly key_id: string }>([
        'keys',
        'create',
        '--project',
        'new',
      ]);
      key = made.key;
      return { words: ['keys', 'revoke', made.key_id] };
    },
    async faults(place, { ended }) {
      const { status } = await place.parley(['verify'], { env: { PARLEY_API_KEY: key } });
      return status === (ended ? 4 : status === 0 ? 0 : 4) ? [] : [`with the revoked key, ${status}`];
    },
  };
}

function rowsOf<Row>(path: string, sql: string): readonly Row[] {
  const database = new RawDatabase(path);
  try {
    return database.prepare<[], Row>(sql).all();
  } finally {
    database.close();
  }
}

const versionOf = (path: string) =>
  rowsOf<{ user_version: number }>(path, 'PRAGMA user_version')[0]?.user_version;

/** A migrated store has a complete copy beside it. */
function migration(): Scenario {
  const before = schema.length - 1;
  return {
    name: 'the migration of an old store',
    async prepare(place) {
      const options = { ...storeOptions(place.dataDirectory), migrations: schema.slice(0, before) };
      const { store } = await openSqliteStore(options);
      await store.close();
      rowsOf(
        place.storeFile,
        `INSERT INTO projects (project_id, name, created_at) VALUES ('prj_old', 'old', 1) RETURNING id`,
      );
      return { words: ['keys', 'list'] };
    },
    async faults(place) {
      const copy = `${place.storeFile}.backup-v${before}`;
      const faults = versionOf(place.storeFile) === before ? [] : copyFaults(copy, before);
      return [...faults, ...(await expected(place, ['keys', 'list', '--json']))];
    },
  };
}

function copyFaults(copy: string, version: number): readonly string[] {
  if (!existsSync(copy)) return ['the store was changed, and has no copy'];
  try {
    const projects = rowsOf(copy, `SELECT 1 FROM projects WHERE project_id = 'prj_old'`).length;
    const isSound =
      rowsOf<{ integrity_check: string }>(copy, 'PRAGMA integrity_check')[0]?.integrity_check === 'ok';
    return versionOf(copy) === version && projects === 1 && isSound
      ? []
      : ['the copy of the store is not whole'];
  } catch (error) {
    return [`the copy of the store cannot be read: ${error}`];
  }
}

/** The other sessions remain, and the store is valid. */
function purge(): Scenario {
  return {
    name: 'sessions purge',
    async prepare(place) {
      await place.output([...echo, 'erased']);
      await place.output(['sessions', 'delete', '--all', '--yes']);
      await place.output([...echo, 'staying']);
      return { words: ['sessions', 'purge', '--deleted-before', '0d', '--confirm', '1'] };
    },
    async faults(place, { ended }) {
      const listed = await expected(place, ['sessions', 'list'], 'a session is lost', (out) =>
        out.includes('staying'),
      );
      const deleted = await expected(
        place,
        ['sessions', 'list', '--deleted'],
        'an erased session is back',
        (out) => !ended || !out.includes('erased'),
      );
      return [...listed, ...deleted];
    },
  };
}

export const storeScenarios: readonly Scenario[] = [keyCreation(), keyRevocation(), migration(), purge()];
