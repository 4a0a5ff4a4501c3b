// Creates sessions: all that wait at the same moment in one statement, also those with an idempotency key.
import { toTime } from '../../service/iso-time.ts';
import type { NewSession } from '../../service/session.ts';
import { parametersText } from '../rows.ts';
import type { IdempotencyKey, Idempotent, KeyHash, SessionStart } from '../session-store.ts';
import { byNumber, columnsOf } from './columns.ts';
import {
  forgetOld,
  type IdempotencyTools,
  type KnownRow,
  knownColumns,
  knownFields,
  knownOf,
} from './idempotency.ts';
import { hashValue, isRefused, refused } from './keys.ts';
import { statement } from './statement.ts';

export interface SessionCreation {
  readonly projectId: string;
  readonly session: SessionStart;
  readonly idempotencyKey: IdempotencyKey | null;
  readonly keyHash: KeyHash;
}

// Ids are random. If an id exists already, this statement was sent before. If another call records one of the keys at this moment, the
// unique index makes the statement fail. Each call is then sent again alone and finds the key.
const create = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, projects.id AS project, ${isRefused('input.key_hash', 'projects.id')} AS is_refused
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[], $8::bigint[],
      $9::text[], $10::bytea[], $11::text[], $12::text[], $13::text[])
      AS input (number, project_id, session_id, title, now, key, request_hash, kept_ms, answer, key_hash, parameters, system,
        user_id)
    JOIN parley.projects USING (project_id)
  ), known AS MATERIALIZED (
    SELECT input.number, ${knownColumns('input.kept_ms')}
    FROM input JOIN parley.idempotency AS known ON known.project = input.project AND known.key = input.key
  ), fresh AS (
    SELECT * FROM input WHERE NOT is_refused AND number NOT IN (SELECT number FROM known)
  ), made AS (
    INSERT INTO parley.sessions (project, session_id, title, created_at, updated_at, parameters, system, user_id)
    SELECT project, session_id, title, now, now, parameters, system, user_id FROM fresh
    ON CONFLICT (project, session_id) DO NOTHING
  ), recorded AS (
    INSERT INTO parley.idempotency (project, key, request_hash, answer)
    SELECT project, key, request_hash, answer FROM fresh WHERE key IS NOT NULL
  )
  SELECT input.number, input.is_refused, ${knownFields}
  FROM input LEFT JOIN known USING (number)`);

type CreatedRow = KnownRow & { readonly number: number; readonly is_refused: boolean };

export async function createSessions(
  tools: IdempotencyTools,
  creations: readonly SessionCreation[],
): Promise<readonly (Idempotent<NewSession> | typeof refused)[]> {
  const { connections, keptMs } = tools;
  const values = columnsOf(
    creations,
    ({ projectId }) => projectId,
    ({ session }) => session.session_id,
    ({ session }) => session.title,
    ({ session }) => session.now,
    ({ idempotencyKey }) => idempotencyKey?.key ?? null,
    ({ idempotencyKey }) => idempotencyKey && Buffer.from(idempotencyKey.requestHash),
    ({ idempotencyKey }) => idempotencyKey && keptMs(idempotencyKey),
    ({ session, idempotencyKey }) => idempotencyKey && JSON.stringify(made(session)),
    ({ keyHash }) => hashValue(keyHash),
    ({ session }) => parametersText(session.parameters),
    ({ session }) => session.system ?? null,
    ({ session }) => session.user ?? null,
  );
  const rows = byNumber(await connections.ask<CreatedRow>(create, values));
  return Promise.all(creations.map((creation, number) => resultOf(tools, creation, rows.get(number))));
}

async function resultOf(
  tools: IdempotencyTools,
  creation: SessionCreation,
  row: CreatedRow | undefined,
): Promise<Idempotent<NewSession> | typeof refused> {
  if (row?.is_refused) return refused;
  const { projectId, session, idempotencyKey } = creation;
  const known = knownOf(row, tools.rules, idempotencyKey, false);
  if (known.kind === 'mismatch' || known.kind === 'turn') return { kind: 'mismatch' };
  if (known.kind === 'answer') return { kind: 'done', value: JSON.parse(known.answer) as NewSession };
  if (known.kind === 'new' || idempotencyKey === null) return { kind: 'done', value: made(session) };
  await forgetOld(tools.connections.ask, projectId, idempotencyKey, tools.keptMs(idempotencyKey));
  const [again] = await createSessions(tools, [creation]);
  return again as Idempotent<NewSession> | typeof refused;
}

function made({ session_id, title, now }: SessionCreation['session']): NewSession {
  return { session_id, title, created_at: toTime(now), message_count: 0 };
}
