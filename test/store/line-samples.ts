// Steps with the lines of a session for tests of every store.
import type { Message } from '../../src/service/session.ts';
import type {
  Fork,
  ForkEnd,
  RegenerationStart,
  SessionStore,
  Turn,
  TurnMove,
  TurnReply,
} from '../../src/store/session-store.ts';
import { newId, startOfTime, turnReply, turnStart } from './store-samples.ts';
import { begin } from './turn-steps.ts';

export function regeneration(session_id: string, start: Partial<RegenerationStart> = {}): RegenerationStart {
  const { lease, deadOwner, idempotencyKey, closing_message_id, now } = turnStart();
  return {
    ...{ session_id, mode: 'echo', reply_id: newId('reply'), now: now + 2000 },
    ...{ lease, deadOwner, idempotencyKey, closing_message_id, ...start },
  };
}

/** Begins a regeneration, whose reply must have the returned id. */
export async function beginAnother(
  store: SessionStore,
  project: string,
  start: RegenerationStart,
): Promise<Turn> {
  const begun = await store.beginRegeneration(project, start);
  if (begun.kind !== 'begun') throw new Error(`the regeneration is ${begun.kind}`);
  return begun.turn;
}

/** Another reply to the last message, from begin to end. */
export async function another(
  store: SessionStore,
  project: string,
  session_id: string,
  reply: Partial<TurnReply> = {},
  start: Partial<RegenerationStart> = {},
) {
  const given = regeneration(session_id, start);
  const turn = await beginAnother(store, project, given);
  return store.endTurn(
    project,
    turn,
    turnReply({ message_id: given.reply_id, now: startOfTime + 3000, ...reply }),
  );
}

/** A turn from begin to end. */
export async function turnOf(
  store: SessionStore,
  project: string,
  session_id: string | null,
  content: string,
  reply: Partial<TurnReply> = {},
): Promise<Turn> {
  const turn = await begin(store, project, { session_id, content });
  await store.endTurn(project, turn, turnReply({ content: content.toUpperCase(), ...reply }));
  return turn;
}

/** A session with a turn for each text; each reply is its text in upper case. */
export async function sessionOf(
  store: SessionStore,
  project: string,
  contents: readonly string[],
): Promise<string> {
  let session: string | null = null;
  for (const content of contents) session = (await turnOf(store, project, session, content)).session_id;
  return session ?? '';
}

export function moveOf(session_id: string, move: Partial<TurnMove> = {}): TurnMove {
  return {
    ...{ session_id, now: startOfTime + 5000, deadOwner: null, idempotencyKey: null },
    ...{ closing_message_id: newId('closing'), ...move },
  };
}

export function forkOf(session_id: string, fork: Partial<Fork> = {}): Fork {
  return {
    session_id,
    newSession: { session_id: newId('ses'), title: undefined },
    ...{ copy_id_prefix: newId('msg'), through: null, now: startOfTime + 9000, ...fork },
  };
}

/** The id of a fork that was made. */
export function forkId(end: ForkEnd): string {
  if (end.kind !== 'done') throw new Error(`the fork is ${end.kind}`);
  return end.value.session_id;
}

/** All messages of a session, page by page. */
export async function everyMessage(
  store: SessionStore,
  project: string,
  session: string,
  limit = 50,
): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last === undefined ? null : { position: last.position, messageId: last.message_id };
    const page = await store.listAllMessages(project, session, { limit, after });
    if (page === null) throw new Error('the session is unknown');
    all.push(...page.items);
    if (!page.hasMore) return all;
  }
}

/** What a message is, for comparisons: its text, and `alternative` or `undone` for a hidden one. */
function kindOf({ content, alternative_of, undone_at }: Message): string {
  if (alternative_of !== undefined) return `alternative ${content}`;
  return undone_at === undefined ? content : `undone ${content}`;
}

export async function kinds(
  store: SessionStore,
  project: string,
  session: string,
): Promise<readonly string[]> {
  return (await everyMessage(store, project, session)).map(kindOf).sort();
}
