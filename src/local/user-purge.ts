// Erases everything that the store holds of one person. Active sessions are deleted first, so no turn can begin in them; those in which a
// turn runs are left as they are.
import type {
  UserPurgeExecution,
  UserPurgePlan,
  UserPurgeReport,
  UserPurgeRequest,
} from '../service/erasure.ts';
import type { AuditOrigin, UserSession } from '../store/session-store.ts';
import { sessionMark } from './audit-chain.ts';
import { otherCount } from './erasure-failures.ts';
import type { LocalOptions } from './local-options.ts';
import { checkUser } from './text-rules.ts';

/** How many sessions the audit log names. */
const maxMarks = 1000;
/** Sessions of the person may be deleted by others at the moment of the count. */
const maxTries = 10;
/** How many lines are looked for at a time. */
const linesAtOnce = 200;

const filterOf = ({ project_id, user }: UserPurgeRequest) => ({ projectId: project_id, user });

export async function planUserPurge(
  { store }: LocalOptions,
  request: UserPurgeRequest,
): Promise<UserPurgePlan> {
  checkUser('user', request.user);
  const filter = filterOf(request);
  const users = await store.ofUsers();
  const sessions = await users.sessions(filter);
  const free = sessions.filter(isFree);
  const { backups, unfinished } = await store.planPurge(filter);
  const { messages, text_bytes } = await users.texts(filter);
  return {
    sessions: free.length,
    deleted: free.filter(({ is_deleted }) => is_deleted).length,
    busy: idsOf(sessions.filter(({ is_busy }) => is_busy)),
    messages,
    text_bytes,
    backups,
    unfinished,
  };
}

export async function purgeUser(
  { store, limits, now }: LocalOptions,
  request: UserPurgeExecution,
  by: AuditOrigin,
): Promise<UserPurgeReport> {
  checkUser('user', request.user);
  const filter = filterOf(request);
  const users = await store.ofUsers();
  const sessions = await users.sessions(filter);
  const free = sessions.filter(isFree);
  const { expected_sessions, rewrite: rewrites, onErased: erased } = request;
  if (expected_sessions !== null && expected_sessions !== free.length)
    throw otherCount(free.length, expected_sessions);
  const active = free.filter(({ is_deleted }) => !is_deleted);
  for (const projectId of new Set(active.map(({ project_id }) => project_id))) {
    const ids = idsOf(active.filter(({ project_id }) => project_id === projectId));
    for (let from = 0; from < ids.length; from += limits.batchIds)
      await store.deleteSessions(projectId, ids.slice(from, from + limits.batchIds), by.time, null, by);
  }
  const keptSince = now() - limits.idempotencyMs;
  const marks = idsOf(free).slice(0, maxMarks).map(sessionMark);
  for (let tries = 1; ; tries += 1) {
    const { sessions: expected } = await store.planPurge(filter);
    const purge = await store.purgeSessions(filter, { expected, keptSince, rewrites, by, marks, erased });
    if (purge.kind === 'purged') {
      const remainingIds = idsOf(await users.sessions(filter));
      const remaining = new Set(remainingIds);
      const hashes = idsOf(free).flatMap((id) => (remaining.has(id) ? [] : [sessionMark(id)]));
      return { erased_at: new Date(now()).toISOString(), ...purge.report, hashes, busy: remainingIds };
    }
    if (tries === maxTries) throw otherCount(purge.sessions, expected);
  }
}

export async function linesOf(
  { store }: LocalOptions,
  request: UserPurgeRequest,
  lines: readonly string[],
): Promise<readonly string[]> {
  // No message holds what a database cannot keep.
  const searchable = lines.filter((line) => line !== '' && line.isWellFormed() && !line.includes('\0'));
  const users = await store.ofUsers();
  const matchingLines: string[] = [];
  for (let from = 0; from < searchable.length; from += linesAtOnce) {
    const chunk = searchable.slice(from, from + linesAtOnce);
    matchingLines.push(...(await users.linesInTexts(filterOf(request), chunk)));
  }
  return matchingLines;
}

function isFree({ is_busy }: UserSession): boolean {
  return !is_busy;
}

function idsOf(sessions: readonly UserSession[]): readonly string[] {
  return sessions.map(({ session_id }) => session_id);
}
