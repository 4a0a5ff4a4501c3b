// Kills imports (`kill -9`) at random moments and resumes them, and runs imports at once. Then the store and the journals are compared with an
// undisturbed import.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endOf, type Place } from './parley.ts';

export interface ImportStorm {
  readonly kills: number;
  readonly conversations: number;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface ImportReport {
  readonly kills: number;
  /** Kills that left only some of the sessions. */
  readonly midway: number;
  readonly faults: readonly string[];
}

/** An export in Claude's format. Conversations have 4 to 16 messages, and every fifth has a second branch. `end`: of each message. */
export function writeConversations(path: string, conversations: number, end = ''): void {
  const list = Array.from({ length: conversations }, (_, number) => ({
    ...{ uuid: `c${number}`, name: `Conversation ${number}`, created_at: timeOf(number, 0) },
    chat_messages: Array.from({ length: 4 + 2 * (number % 7) }, (_, index) => ({
      ...{ uuid: `c${number}m${index}`, sender: index % 2 === 0 ? 'human' : 'assistant' },
      ...{ text: `message ${index} of conversation ${number}${end}`, created_at: timeOf(number, index) },
      parent_message_uuid: parentOf(number, index),
    })),
  }));
  writeFileSync(path, JSON.stringify(list));
}

function timeOf(number: number, index: number): string {
  return new Date(Date.UTC(2026, 0, 1) + number * 60_000 + index * 1000).toISOString();
}

function parentOf(number: number, index: number): string | null {
  if (index === 0) return '00000000-0000-4000-8000-000000000000';
  return `c${number}m${number % 5 === 0 && index === 2 ? 0 : index - 1}`;
}

/** The sessions of a place with their messages, without facts that do not depend on the import. */
export function keptIn(place: Place): ReadonlyMap<string, string> {
  const sessions = place.rows<Record<string, unknown> & { session_id: string; id: number }>(
    `SELECT id, session_id, title, created_at, updated_at, message_count, parent_id, forked_at, deleted_at IS NULL AS active
     FROM sessions`,
  );
  const messages = place.rows<Record<string, unknown> & { session: number }>(
    'SELECT session, position, message_id, role, content, created_at FROM messages ORDER BY session, position',
  );
  const bySession = new Map<number, unknown[]>();
  for (const { session, ...message } of messages)
    bySession.set(session, [...(bySession.get(session) ?? []), message]);
  const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return new Map(
    sessions.map(({ id, ...session }) => [session.session_id, digest([session, bySession.get(id) ?? []])]),
  );
}

/** `make` creates a place; the caller removes them. */
export async function importStorm(make: () => Place, storm: ImportStorm): Promise<ImportReport> {
  const faults: string[] = [];
  const calm = make();
  const file = join(calm.path, 'conversations.json');
  writeConversations(file, storm.conversations);
  await calm.output(['models']);
  const start = performance.now();
  await calm.output(['sessions', 'import', file]);
  const life = performance.now() - start;
  const expected = keptIn(calm);
  let kills = 0;
  let midway = 0;
  while (kills < storm.kills) {
    const place = make();
    await place.output(['models']);
    let isOver = false;
    while (!isOver) {
      const batch = await onlyBatch(place, faults);
      const words = batch === null ? [file] : ['--resume', batch];
      const child = place.spawn(['sessions', 'import', '--quiet', ...words]);
      child.stdout?.resume();
      let talk = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        talk += chunk;
      });
      const ended = endOf(child);
      if (kills < storm.kills) {
        await Promise.race([ended, delay(storm.random() * life)]);
        child.kill('SIGKILL');
      }
      const { status, signal } = await ended;
      isOver = signal !== 'SIGKILL';
      if (!isOver) kills += 1;
      else if (status !== 0) faults.push(`an import ended with ${status}: ${talk}`);
      const { size } = keptIn(place);
      if (!isOver && size > 0 && size < expected.size) midway += 1;
    }
    faults.push(...differences(expected, keptIn(place)));
    faults.push(...(await undoFaults(place, expected.size)));
  }
  return { kills, midway, faults };
}

/** The import that was started; null if none was. */
async function onlyBatch(place: Place, faults: string[]): Promise<string | null> {
  const batches = await place.answer<{ batch: string }[]>(['sessions', 'batches']);
  if (batches.length > 1) faults.push(`${batches.length} imports are known of one that was resumed`);
  return batches[0]?.batch ?? null;
}

export function differences(
  expected: ReadonlyMap<string, string>,
  stored: ReadonlyMap<string, string>,
): readonly string[] {
  return [
    ...[...expected]
      .filter(([id, digest]) => stored.get(id) !== digest)
      .map(([id]) => `${id} differs or lacks`),
    ...[...stored.keys()].filter((id) => !expected.has(id)).map((id) => `${id} is one too many`),
  ];
}

/** Undoing the import deletes each session that it has created. */
async function undoFaults(place: Place, sessions: number): Promise<readonly string[]> {
  const [batch] = await place.answer<{ batch: string; imported: number }[]>(['sessions', 'batches']);
  if (batch === undefined) return ['no import is known'];
  await place.output(['sessions', 'restore', '--batch', batch.batch]);
  const left = place.rows<{ n: number }>('SELECT count(*) AS n FROM sessions WHERE deleted_at IS NULL')[0]?.n;
  return [
    ...(batch.imported === sessions ? [] : [`${batch.imported} of ${sessions} sessions count as imported`]),
    ...(left === 0 ? [] : [`${left} sessions are left of an import that was taken back`]),
  ];
}
