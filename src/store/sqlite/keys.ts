// Projects, and the keys that belong to them.
import type { KeyRecord } from '../../service/administration.ts';
import { refuseIncompleteCopy } from '../incomplete-copy.ts';
import type { FoundKey } from '../key-budgets.ts';
import type { KeyRow } from '../rows.ts';
import { limitColumns, toFoundKey, toKeyRecord } from '../rows.ts';
import type { NewKey } from '../session-store.ts';
import type { Connection } from './connection.ts';

const selectKeys = `
  SELECT api_keys.key_id, api_keys.name AS key_name, projects.project_id, projects.name AS project_name,
    api_keys.created_at, api_keys.revoked_at, ${limitColumns}
  FROM api_keys JOIN projects ON projects.id = api_keys.project`;

export const keyStatements = {
  find: `${selectKeys} WHERE api_keys.hash = @hash AND api_keys.revoked_at IS NULL`,
  findProject: `
    SELECT projects.project_id FROM api_keys JOIN projects ON projects.id = api_keys.project
    WHERE api_keys.hash = @hash AND api_keys.revoked_at IS NULL`,
  findById: `${selectKeys} WHERE api_keys.key_id = @keyId`,
  list: `${selectKeys} ORDER BY api_keys.created_at, api_keys.id`,
  copyNote: `SELECT value FROM meta WHERE name = 'copy' AND NOT EXISTS (SELECT 1 FROM api_keys)`,
  createProject: `
    INSERT INTO projects (project_id, name, created_at) VALUES (@projectId, @name, @now)
    ON CONFLICT (name) DO NOTHING`,
  create: `
    INSERT INTO api_keys (key_id, name, hash, project, created_at, scope, expires_at, turns_per_day, tokens_per_day)
    VALUES (@keyId, @name, @hash, (SELECT id FROM projects WHERE name = @projectName), @now, @scope, @expiresAt,
      @turns, @tokens)`,
  revoke: `UPDATE api_keys SET revoked_at = @now WHERE key_id = @keyId AND revoked_at IS NULL`,
} as const;

export function findKey(connection: Connection, hash: Uint8Array): FoundKey | null {
  const row = connection.get<KeyRow>(keyStatements.find, { hash });
  return row === undefined ? null : toFoundKey(row);
}

/** The id of the project of a key that is not revoked. It takes a quarter of the time of {@link findKey}. */
export function findKeyProject(connection: Connection, hash: Uint8Array): string | null {
  return connection.values<[string]>(keyStatements.findProject, { hash })?.[0] ?? null;
}

export function createKey(connection: Connection, key: NewKey): KeyRecord {
  refuseIncompleteCopy(connection.get<{ value: string }>(keyStatements.copyNote)?.value ?? null);
  connection.run(keyStatements.createProject, {
    projectId: key.project_id,
    name: key.project_name,
    now: key.now,
  });
  connection.run(keyStatements.create, {
    keyId: key.key_id,
    name: key.key_name,
    hash: key.hash,
    projectName: key.project_name,
    now: key.now,
    scope: key.scope ?? null,
    expiresAt: key.expires_at ?? null,
    turns: key.turns_per_day ?? null,
    tokens: key.tokens_per_day ?? null,
  });
  return toKeyRecord(connection.get<KeyRow>(keyStatements.findById, { keyId: key.key_id }) as KeyRow);
}

export function listKeys(connection: Connection): readonly KeyRecord[] {
  return connection.all<KeyRow>(keyStatements.list).map(toKeyRecord);
}

export function revokeKey(connection: Connection, keyId: string, now: number): KeyRecord | null {
  connection.run(keyStatements.revoke, { keyId, now });
  const row = connection.get<KeyRow>(keyStatements.findById, { keyId });
  return row === undefined ? null : toKeyRecord(row);
}
