// Projects, and the keys that belong to them.
import type { KeyRecord } from '../../service/administration.ts';
import { refusedKey } from '../../service/refused-key.ts';
import { keyNote } from '../audit-log.ts';
import { refuseIncompleteCopy } from '../incomplete-copy.ts';
import type { FoundKey } from '../key-budgets.ts';
import type { KeyRow } from '../rows.ts';
import { limitColumns, toFoundKey, toKeyRecord } from '../rows.ts';
import type { NewKey } from '../session-store.ts';
import { recordNote } from './audit.ts';
import { byNumber, columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { statement } from './statement.ts';

const keyColumns = `
  api_keys.key_id, api_keys.name AS key_name, projects.project_id, projects.name AS project_name,
  api_keys.created_at, api_keys.revoked_at, ${limitColumns}`;
const keysOfProjects = 'parley.api_keys JOIN parley.projects ON projects.id = api_keys.project';

const findKeys = statement(`
  SELECT input.number, ${keyColumns}
  FROM unnest($1::integer[], $2::bytea[]) AS input (number, hash)
  JOIN parley.api_keys ON api_keys.hash = input.hash AND api_keys.revoked_at IS NULL
  JOIN parley.projects ON projects.id = api_keys.project`);
const findById = statement(`SELECT ${keyColumns} FROM ${keysOfProjects} WHERE api_keys.key_id = $1`);
const list = statement(
  `SELECT ${keyColumns} FROM ${keysOfProjects} ORDER BY api_keys.created_at, api_keys.id`,
);
const copyNote = statement(
  `SELECT value FROM parley.meta WHERE name = 'copy' AND NOT EXISTS (SELECT FROM parley.api_keys)`,
);
const createProject = statement(`
  INSERT INTO parley.projects (project_id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`);
// If it is sent again after a lost connection, it finds its own row and does nothing.
const create = statement(`
  INSERT INTO parley.api_keys (key_id, name, hash, project, created_at, scope, expires_at, turns_per_day, tokens_per_day)
  SELECT $1, $2, $3, projects.id, $5, $6, $7::bigint, $8::bigint, $9::bigint FROM parley.projects WHERE projects.name = $4
  ON CONFLICT (key_id) DO NOTHING RETURNING 1`);
const revoke = statement(
  'UPDATE parley.api_keys SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL RETURNING 1',
);

/** SQL that is true if a call is refused for its key. Both arguments are SQL. The key of a call without a hash was checked before. */
export const isRefused = (hash: string, project: string) => `(
  ${hash} IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM parley.api_keys AS given
    WHERE given.hash = ${hash} AND given.project = ${project} AND given.revoked_at IS NULL))`;

export const refused = 'refused';

/** The result of a call whose statement checked the key. Throws `INVALID_API_KEY` for a refused call. */
export function accepted<T>(result: T | typeof refused): T {
  if (result === refused) throw refusedKey();
  return result;
}

/** A hash as a value of a statement. */
export function hashValue(hash: Uint8Array | null | undefined): Buffer | null {
  return hash == null ? null : Buffer.from(hash);
}

export async function findKeysByHash(
  ask: Ask,
  hashes: readonly Uint8Array[],
): Promise<readonly (FoundKey | null)[]> {
  const values = columnsOf(hashes, (hash) => Buffer.from(hash));
  const rows = byNumber(await ask<KeyRow & { number: number }>(findKeys, values));
  return hashes.map((_, number) => {
    const row = rows.get(number);
    return row === undefined ? null : toFoundKey(row);
  });
}

/** `ask` is of a transaction. */
export async function createKey(ask: Ask, key: NewKey): Promise<KeyRecord> {
  const [note] = await ask<{ value: string }>(copyNote);
  refuseIncompleteCopy(note?.value ?? null);
  await ask(createProject, [key.project_id, key.project_name, key.now]);
  const created = await ask(create, [
    ...[key.key_id, key.key_name, Buffer.from(key.hash), key.project_name, key.now, key.scope ?? null],
    ...[key.expires_at ?? null, key.turns_per_day ?? null, key.tokens_per_day ?? null],
  ]);
  const [row] = await ask<KeyRow>(findById, [key.key_id]);
  const record = toKeyRecord(row as KeyRow);
  if (created.length > 0) await recordNote(ask, keyNote('key_created', record, key.now));
  return record;
}

export async function listKeys(ask: Ask): Promise<readonly KeyRecord[]> {
  return (await ask<KeyRow>(list)).map(toKeyRecord);
}

/** `ask` is of a transaction. */
export async function revokeKey(ask: Ask, keyId: string, now: number): Promise<KeyRecord | null> {
  const revoked = await ask(revoke, [keyId, now]);
  const [row] = await ask<KeyRow>(findById, [keyId]);
  if (row === undefined) return null;
  if (revoked.length > 0) await recordNote(ask, keyNote('key_revoked', row, now));
  return toKeyRecord(row);
}
