// The modes in the database. A row of `meta` holds the version of the whole set. The statement that changes modes also replaces this
// version, and only if it is still the version that was read. If two calls change modes at the same moment, one of them must read again.
import type { ModeSet, ModeStore } from '../mode-store.ts';
import { fieldsOf } from './columns.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { runOver } from './run-call.ts';
import { statement } from './statement.ts';

/** SQL for the modes as one JSON value; null if their version is `known`, which is SQL too. */
export const modesUnless = (known: string) => `
  (SELECT CASE WHEN current.value <> ${known} THEN json_build_object(
    'version', current.value,
    'default_mode', (SELECT nullif(value, '') FROM parley.meta WHERE name = 'default_mode'),
    'modes', (
      SELECT coalesce(json_agg(json_build_object('name', mode.name, 'settings', mode.settings) ORDER BY mode.id), '[]')
      FROM parley.modes AS mode
    )) END
  FROM parley.meta AS current WHERE current.name = 'modes_version')`;

const read = statement(`SELECT ${modesUnless(`''`)} AS modes`);
// $1: the version that was read. $2: the new version. $3: the default. $4: the names. $5: the settings. If the store has the new version
// already, this statement was sent before and its answer was lost.
const replace = statement(`
  WITH changed AS (
    UPDATE parley.meta SET value = $2 WHERE name = 'modes_version' AND value = $1 RETURNING 1
  ), default_changed AS (
    UPDATE parley.meta SET value = $3 WHERE name = 'default_mode' AND EXISTS (SELECT 1 FROM changed)
  ), removed AS (
    DELETE FROM parley.modes WHERE name <> ALL($4::text[]) AND EXISTS (SELECT 1 FROM changed)
  ), written AS (
    INSERT INTO parley.modes (name, settings)
    SELECT input.name, input.settings
    FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS input (name, settings, place)
    WHERE EXISTS (SELECT 1 FROM changed) ORDER BY input.place
    ON CONFLICT (name) DO UPDATE SET settings = excluded.settings
  )
  SELECT EXISTS (SELECT 1 FROM changed)
    OR EXISTS (SELECT 1 FROM parley.meta WHERE name = 'modes_version' AND value = $2) AS is_done`);

export function postgresModes(connections: ConnectionPool): ModeStore {
  const run = runOver(connections);
  return {
    read: () => run(async (ask) => (await ask<{ modes: ModeSet }>(read))[0]?.modes as ModeSet),
    replace(expected, { version, default_mode, modes }) {
      const values = [expected, version, default_mode ?? '', ...fieldsOf(modes, ['name', 'settings'])];
      return run(async (ask) => (await ask<{ is_done: boolean }>(replace, values))[0]?.is_done === true);
    },
    close: () => connections.close(),
  };
}
