// The newer tables of llm's log. A thread is a conversation and names its last message; a message names its parent by hash; a turn has the time
// and the model of one call. Threads share messages, so the times of one thread's messages may be in the turns of another.
import { branchesOf, type TreeNode } from '../branches.ts';
import { type ForeignConversation, type ForeignMessage, type Part, textParts } from '../conversation.ts';
import type { DatabaseRow, ForeignDatabase } from '../foreign-database.ts';
import { asText, fieldsOf, listOf, parsedFields, textOf } from '../foreign-value.ts';
import { type Responses, rowsBy } from './llm-responses.ts';
import { attachmentName, timeInUtc } from './llm-values.ts';

/** What a turn records about a message. */
interface TurnFacts {
  readonly time: number | null;
  readonly model: string | null;
}

const chain = `
  WITH RECURSIVE chain (hash, parent_hash) AS (
    SELECT hash, parent_hash FROM messages WHERE hash IN (
      SELECT tip_message_hash FROM threads WHERE id = @thread
      UNION SELECT tip_message_hash FROM turns WHERE thread_id = @thread)
    UNION SELECT messages.hash, messages.parent_hash FROM chain JOIN messages ON messages.hash = chain.parent_hash)`;
const chainMessages = `${chain}
  SELECT messages.hash, messages.parent_hash, role FROM chain CROSS JOIN messages ON messages.hash = chain.hash
  ORDER BY messages.rowid`;
const chainParts = `${chain}
  SELECT message_hash, type, tool_name, text, payload FROM chain CROSS JOIN parts ON message_hash = chain.hash
  ORDER BY message_hash, position`;
export function* threadsOf(
  database: ForeignDatabase,
  responses: Responses,
): Generator<ForeignConversation, void> {
  if (!database.hasTable('threads')) return;
  // Threads share turns, and these have no index of their last messages.
  const turns = rowsBy(database, 'turns', 'tip_message_hash', 'datetime_utc');
  for (const thread of database.rows(
    'SELECT id, name, tip_message_hash, datetime_utc FROM threads ORDER BY datetime_utc, id',
  ))
    yield conversationOf(thread, database, responses, turns);
}

function conversationOf(
  thread: DatabaseRow,
  database: ForeignDatabase,
  responses: Responses,
  turns: ReadonlyMap<string, readonly number[]>,
): ForeignConversation {
  const id = asText(thread['id']);
  const messages = database.rows(chainMessages, { thread: id });
  const parts = new Map<string, Part[]>();
  for (const row of database.rows(chainParts, { thread: id })) {
    const hash = asText(row['message_hash']);
    const found = partsOf(row, database);
    const before = parts.get(hash);
    if (before === undefined) parts.set(hash, [...found]);
    else before.push(...found);
  }
  const facts = factsFromResponses(responses.turnsOf(id), messages, parts);
  addTurns(facts, turnsEndingAt(messages, turns, database), messages);
  const isSystem = (message: DatabaseRow) => message['role'] === 'system';
  const nodes = messages.map((message): TreeNode => {
    const hash = asText(message['hash']);
    const own = parts.get(hash) ?? [];
    return {
      id: hash,
      parent: textOf(message['parent_hash']),
      message: isSystem(message) || own.length === 0 ? null : messageOf(message, own, facts.get(hash)),
    };
  });
  const prompts = messages.filter(isSystem).map((message) => parts.get(asText(message['hash'])) ?? []);
  const system = prompts.flat().flatMap((part) => (part.kind === 'text' ? [part.text] : []))[0] ?? null;
  const times = [...facts.values()].flatMap(({ time }) => time ?? []);
  return {
    id,
    title: textOf(thread['name']),
    system,
    // A thread is recorded at the end of its first turn.
    created: times.length > 0 ? Math.min(...times) : timeInUtc(thread['datetime_utc']),
    branches: branchesOf(nodes, textOf(thread['tip_message_hash'])),
  };
}

/** The turns that end at any of the messages, the oldest first. */
function turnsEndingAt(
  messages: readonly DatabaseRow[],
  turns: ReadonlyMap<string, readonly number[]>,
  database: ForeignDatabase,
): readonly DatabaseRow[] {
  const sql =
    'SELECT id, parent_message_hash, tip_message_hash, model, resolved_model, datetime_utc FROM turns WHERE rowid = ?';
  const rowids = messages.flatMap(({ hash }) => turns.get(asText(hash)) ?? []);
  const placeOf = ({ datetime_utc, id }: DatabaseRow) => `${asText(datetime_utc)} ${asText(id)}`;
  return rowids
    .flatMap((rowid) => database.rows(sql, [rowid]))
    .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

/** A thread may continue a conversation of the older tables, which have the times of its first messages. */
function factsFromResponses(
  turns: readonly DatabaseRow[],
  messages: readonly DatabaseRow[],
  parts: ReadonlyMap<string, readonly Part[]>,
): Map<string, TurnFacts> {
  const facts = new Map<string, TurnFacts>();
  const waiting = messages.map(({ hash }) => ({ hash: asText(hash), text: textIn(parts.get(asText(hash))) }));
  for (const { prompt, response, model, datetime_utc } of turns) {
    const time = timeInUtc(datetime_utc);
    for (const [text, by] of [[textOf(prompt), null] as const, [textOf(response), textOf(model)] as const]) {
      const at = text === null ? -1 : waiting.findIndex((one) => one.text === text);
      if (at !== -1) facts.set(waiting[at]?.hash ?? '', { time, model: by });
      waiting.splice(0, at + 1);
    }
  }
  return facts;
}

function textIn(parts: readonly Part[] = []): string | null {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('') || null;
}

/** Each message gets the facts of the oldest turn that contains it. The input of a call has the call's time, but no model. */
function addTurns(
  facts: Map<string, TurnFacts>,
  turns: readonly DatabaseRow[],
  messages: readonly DatabaseRow[],
): void {
  const parents = new Map(messages.map((row) => [asText(row['hash']), textOf(row['parent_hash'])]));
  for (const turn of turns) {
    const time = timeInUtc(turn['datetime_utc']);
    const lastInput = textOf(turn['parent_message_hash']);
    let model = textOf(turn['resolved_model']) ?? textOf(turn['model']);
    let hash = textOf(turn['tip_message_hash']);
    for (; hash !== null && !facts.has(hash); hash = parents.get(hash) ?? null) {
      if (hash === lastInput) model = null;
      facts.set(hash, { time, model });
    }
  }
}

function messageOf(
  { hash, role }: DatabaseRow,
  parts: readonly Part[],
  { time, model }: TurnFacts = { time: null, model: null },
): ForeignMessage {
  // The result of a tool call is sent to the model as a message of the user.
  const isOwn = role === 'user' && parts.some(({ kind }) => kind !== 'result');
  return {
    id: asText(hash),
    role: isOwn ? 'user' : 'assistant',
    time,
    finish: null,
    parts,
    model: isOwn ? null : model,
  };
}

function partsOf(row: DatabaseRow, database: ForeignDatabase): readonly Part[] {
  const payload = parsedFields(row['payload']);
  const text = textOf(row['text']) ?? referredText(payload['text_ref'], database) ?? textOf(payload['text']);
  const files = [fieldsOf(payload['attachment']), ...listOf(payload['attachments']).map(fieldsOf)]
    .flatMap(({ id }) => textOf(id) ?? [])
    .map((id): Part => ({ kind: 'attachment', name: attachmentName(id, database), text: null }));
  switch (row['type']) {
    case 'text':
      return textParts('text', text);
    case 'reasoning':
      return textParts('thinking', text);
    case 'tool_call':
      return [{ kind: 'tool', name: asText(row['tool_name']), input: asText(payload['arguments']) }];
    case 'tool_result': {
      const output = textOf(payload['exception']) ?? asText(payload['output']);
      return [{ kind: 'result', name: textOf(row['tool_name']), text: output }, ...files];
    }
    default:
      return files;
  }
}

/** A text with fragments is a list of references and literals. Null for any other value. */
function referredText(list: unknown, database: ForeignDatabase): string | null {
  if (!Array.isArray(list)) return null;
  const texts = list.map(fieldsOf).map(({ fragment, literal }) => {
    if (typeof fragment !== 'number') return asText(literal);
    return asText(database.rows('SELECT content FROM fragments WHERE id = ?', [fragment])[0]?.['content']);
  });
  return texts.join('') || null;
}
