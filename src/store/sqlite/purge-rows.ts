// Erases the rows of a purge in slices. Each slice is a transaction of some milliseconds. A pause follows, because other processes check
// only from time to time whether the store is free. A long session is first hidden like a long import (staged-session.ts), then erased in
// parts.
import { setTimeout as delay } from 'node:timers/promises';
import type { PurgeFilter } from '../session-filters.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { agedSince } from './idempotency.ts';
import { noTurnRuns } from './lease-clock.ts';
import type { LockWait } from './lock-wait.ts';
import { inProject } from './sessions.ts';
import { removeInSteps } from './staged-session.ts';
import { StepMeter, type Steps } from './steps.ts';
import type { Writer } from './writer.ts';

export interface PurgeTools {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly wait: LockWait;
  readonly clocks: () => Clocks;
  /** Records the purge in the audit log. */
  readonly audit: () => void;
  /** Called for each session that is erased. */
  readonly erased?: ((sessionId: string) => void) | undefined;
}

interface Erased {
  readonly sessions: number;
  readonly messages: number;
  readonly stored_answers: number;
}

/** A session with more messages or more bytes of text is erased in parts. */
const messagesAtOnce = 250;
const bytesAtOnce = 256 * 1024;
/** How many stored answers one statement reads or deletes. */
const answersAtOnce = 100;
/** The pause between two slices, in ms. */
const pauseMs = 10;

const erasableIf = (condition: string) => `
  ${condition} AND ${noTurnRuns}
  AND (@projectId IS NULL OR ${inProject})`;

const textBytes = (table: string) =>
  `(SELECT coalesce(sum(octet_length(content)), 0) FROM ${table} WHERE session = sessions.id)`;

/** The statements about the sessions that a condition selects. */
const selecting = (erasable: string) =>
  ({
    plan: `
      SELECT count(*) AS sessions, coalesce(sum(messages), 0) AS messages, coalesce(sum(bytes), 0) AS text_bytes
      FROM (
        SELECT (SELECT count(*) FROM messages WHERE session = sessions.id)
            + (SELECT count(*) FROM hidden_messages WHERE session = sessions.id) AS messages,
          ${textBytes('messages')} + ${textBytes('hidden_messages')} AS bytes
        FROM sessions WHERE ${erasable})`,
    count: `SELECT count(*) AS sessions FROM sessions WHERE ${erasable}`,
    forgetAnswer: `
      DELETE FROM idempotency WHERE project = @project AND key = @key AND EXISTS (
        SELECT 1 FROM json_tree(answer) AS part CROSS JOIN sessions
          ON sessions.project = idempotency.project AND sessions.session_id = part.value
        WHERE part.key = 'session_id' AND ${erasable})`,
    next: `SELECT id AS session, session_id, message_count FROM sessions WHERE ${erasable} LIMIT 1`,
  }) as const;

const ofAll = selecting(erasableIf('deleted_at < @deletedBefore'));
/** The index of the users gives their sessions at once, however many others are deleted. */
const ofUser = selecting(erasableIf('user_id = @user AND deleted_at IS NOT NULL'));
/** The sessions that retention has deleted. Their index is searched run by run. */
export const ofExpired = selecting(
  erasableIf(`deleted_at < @deletedBefore AND expired IN (
    SELECT run.id FROM retention_runs AS run
    WHERE run.${inProject}
      AND run.begun_at < @deletedBefore AND deleted_at <= run.last_at)`),
);
type Selection = Readonly<Record<'plan' | 'count' | 'forgetAnswer' | 'next', string>>;

export const selectionOf = (filter: PurgeFilter) => ('user' in filter ? ofUser : ofAll);

export const purgeStatements = {
  ...ofAll,
  // Keys that do not count any more.
  forgetOld: `
    DELETE FROM idempotency WHERE (project, key) IN (
      SELECT project, key FROM idempotency WHERE created_at < @keptSince ORDER BY created_at LIMIT ${answersAtOnce})`,
  nextAnswers: `
    SELECT project, key FROM idempotency WHERE (project, key) > (@project, @key) AND answer IS NOT NULL
    ORDER BY project, key LIMIT ${answersAtOnce}`,
  size: `
    SELECT (SELECT count(*) FROM hidden_messages WHERE session = sessions.id) AS hidden,
      ${textBytes('messages')} + ${textBytes('hidden_messages')} AS bytes
    FROM sessions WHERE id = @session`,
  // The keys of turns are deleted before the messages, because they refer to them.
  keysOfTurns: `
    DELETE FROM idempotency WHERE message IN (SELECT id FROM messages WHERE session = @session)
      OR hidden_message IN (SELECT id FROM hidden_messages WHERE session = @session)`,
  // The messages are deleted before the session, because the triggers on messages read the project of the session.
  messages: 'DELETE FROM messages WHERE session = @session',
  hiddenMessages: 'DELETE FROM hidden_messages WHERE session = @session',
  session: 'DELETE FROM sessions WHERE id = @session',
  begin: `INSERT INTO meta (name, value) VALUES ('purge', 'begun') ON CONFLICT (name) DO NOTHING`,
} as const;

interface NextSession {
  readonly session: number;
  readonly session_id: string;
  readonly message_count: number;
}

interface Size {
  readonly hidden: number;
  readonly bytes: number;
}

/** Erases the sessions of the filter. If there are not as many as `expected`, it erases nothing and returns their number. */
export async function eraseRows(
  tools: PurgeTools,
  filter: PurgeFilter,
  { expected, keptSince }: { readonly expected: number; readonly keptSince: number },
): Promise<Erased | number> {
  const { connection, writer, clocks } = tools;
  const selection = selectionOf(filter);
  const bindings = { ...filter, clock: clocks().clock };
  const found = await writer.writeAlone(() => {
    const found = connection.get<{ sessions: number }>(selection.count, bindings)?.sessions ?? 0;
    if (found === expected) {
      connection.run(purgeStatements.begin);
      tools.audit();
    }
    return found;
  });
  if (found !== expected) return found;
  const since = agedSince({ connection, ...clocks() }, keptSince);
  const answers = await inSlices(tools, answerSteps(tools, selection, bindings, since));
  const erased = await inSlices(tools, sessionSteps(tools, selection, bindings));
  return { ...erased, stored_answers: answers + erased.stored_answers };
}

/** Runs each step as a transaction, with a pause between two steps. */
export async function inSlices<T>({ writer }: Pick<PurgeTools, 'writer'>, steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = await writer.writeAlone(() => steps.next());
    if (done === true) return value;
    await delay(pauseMs);
  }
}

/** Deletes the stored answers that are too old, and those that name a session of the filter. Returns their number. */
export function* answerSteps(
  { connection }: Pick<PurgeTools, 'connection'>,
  { forgetAnswer }: Selection,
  bindings: Bindings,
  keptSince: number,
): Steps<number> {
  let count = 0;
  const step = new StepMeter();
  for (let changes = 1; changes > 0; count += changes) {
    yield* step.next();
    changes = connection.run(purgeStatements.forgetOld, { keptSince }).changes;
  }
  let last = { project: 0, key: '' };
  for (;;) {
    const next = connection.all<typeof last>(purgeStatements.nextAnswers, last);
    for (const answer of next) {
      yield* step.next();
      count += connection.run(forgetAnswer, { ...bindings, ...answer }).changes;
      last = answer;
    }
    if (next.length === 0) return count;
  }
}

export function* sessionSteps(
  { connection, clocks, erased }: Pick<PurgeTools, 'connection' | 'clocks' | 'erased'>,
  selection: Selection,
  bindings: Bindings,
): Steps<Erased> {
  let [sessions, messages, stored_answers] = [0, 0, 0];
  const step = new StepMeter();
  for (;;) {
    yield* step.next();
    const next = connection.get<NextSession>(selection.next, bindings);
    if (next === undefined) return { sessions, messages, stored_answers };
    const { session } = next;
    sessions += 1;
    // A session that is erased in parts is hidden from now on, and is erased also if this process ends.
    erased?.(next.session_id);
    stored_answers += connection.run(purgeStatements.keysOfTurns, { session }).changes;
    const { hidden, bytes } = connection.get<Size>(purgeStatements.size, { session }) as Size;
    if (next.message_count + hidden > messagesAtOnce || bytes > bytesAtOnce) {
      messages += next.message_count + hidden;
      yield* removeInSteps(connection, session, () => clocks().clock, step);
    } else {
      messages += connection.run(purgeStatements.messages, { session }).changes;
      messages += connection.run(purgeStatements.hiddenMessages, { session }).changes;
      connection.run(purgeStatements.session, { session });
    }
  }
}
