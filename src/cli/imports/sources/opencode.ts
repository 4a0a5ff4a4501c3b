// The store of opencode: since 1.2 the database `opencode.db`, with a row for each session, message and part, and since 2.0 other tables
// (opencode-v2.ts); before, a JSON file for each, in two layouts (opencode-files.ts). `opencode export` writes one session as JSON with the same values.
import {
  type ForeignConversation,
  type ForeignMessage,
  type Part,
  type SourceReading,
  singleBranch,
  textParts,
} from '../conversation.ts';
import { type DatabaseRow, ForeignDatabase } from '../foreign-database.ts';
import {
  asText,
  type ForeignFields,
  fieldsOf,
  listOf,
  parsedFields,
  textOf,
  timeOfMilliseconds,
} from '../foreign-value.ts';
import { jsonItems } from '../json-items.ts';
import type { ReadOptions, Source, SourceFile } from '../source.ts';
import { isStoredFile, storedSession } from './opencode-files.ts';
import { finishOf, newMessages, newSessions } from './opencode-v2.ts';

export const opencode: Source = {
  name: 'opencode',
  title: 'opencode session',
  recognises: ({ name, path, text }) =>
    isStoredFile(path) ||
    (text.startsWith('SQLite format 3\0') && /^opencode.*\.db$/.test(name)) ||
    /^\s*\{\s*"info"\s*:\s*\{[\s\S]*"messages"\s*:\s*\[\s*\{\s*"info"/.test(text),
  places: ({ home, env }) => {
    const path = `${env['XDG_DATA_HOME'] ?? `${home}/.local/share`}/opencode`;
    const pattern = /\/opencode[^/]*\.db$|\/storage\/session\/(?!share\/)[^/]+\/ses_[^/]+\.json$/;
    return [{ path, pattern, keptDays: null }];
  },
  async *read(file, options) {
    if (file.local !== null && file.path.endsWith('.db')) yield* readDatabase(file, options);
    else if (isStoredFile(file.path)) yield* readFiles(file, options);
    else yield* readExport(file, options);
  },
};

async function* readDatabase(file: SourceFile, options: ReadOptions): AsyncGenerator<SourceReading, void> {
  const database = await ForeignDatabase.open(file, options);
  try {
    const read = new Set<string>();
    const hasOld = database.hasTable('session');
    const sessions = newSessions(database);
    for (const row of sessions) {
      options.signal.throwIfAborted();
      const id = asText(row['id']);
      const messages = newMessages(id, database);
      // An upgrade that was cut has copied the session, but not its messages.
      if (messages.length === 0 && hasOld) continue;
      read.add(id);
      yield sessionReading(row, () => messages);
    }
    if (!hasOld && sessions.length > 0) return;
    for (const row of database.rows(
      'SELECT id, parent_id, title, time_created FROM session ORDER BY time_created, id',
    )) {
      options.signal.throwIfAborted();
      const id = asText(row['id']);
      if (!read.has(id)) yield sessionReading(row, () => oldMessages(id, database));
    }
  } finally {
    database.close();
  }
}

function sessionReading(row: DatabaseRow, messages: () => readonly ForeignMessage[]): SourceReading {
  const id = asText(row['id']);
  const place = `session ${id}`;
  if (row['parent_id'] !== null) return { place, skipped: 'subagent' };
  const info = { id, title: row['title'], time: { created: row['time_created'] } };
  return { place, conversation: conversationOf(id, info, messages()) };
}

function oldMessages(id: string, database: ForeignDatabase): readonly ForeignMessage[] {
  const parts = partsByMessage(id, database);
  const rows = database.rows(
    'SELECT id, data FROM message WHERE session_id = @id ORDER BY time_created, id',
    { id },
  );
  return rows.flatMap((message) => {
    const own = asText(message['id']);
    return messageOf(own, parsedFields(message['data']), parts.get(own) ?? []);
  });
}

function partsByMessage(
  sessionId: string,
  database: ForeignDatabase,
): ReadonlyMap<string, readonly ForeignFields[]> {
  const parts = new Map<string, ForeignFields[]>();
  const sql = 'SELECT message_id, data FROM part WHERE session_id = @id ORDER BY id';
  for (const part of database.rows(sql, { id: sessionId })) {
    const message = asText(part['message_id']);
    const before = parts.get(message);
    if (before === undefined) parts.set(message, [parsedFields(part['data'])]);
    else before.push(parsedFields(part['data']));
  }
  return parts;
}

async function* readExport(file: SourceFile, { signal }: ReadOptions): AsyncGenerator<SourceReading, void> {
  for await (const { place, value, failure } of jsonItems(file.open(signal))) {
    if (failure !== null) {
      yield { place, failure };
      continue;
    }
    const info = fieldsOf(fieldsOf(value)['info']);
    const messages = listOf(fieldsOf(value)['messages']).flatMap((one) => {
      const message = fieldsOf(fieldsOf(one)['info']);
      return messageOf(asText(message['id']), message, listOf(fieldsOf(one)['parts']).map(fieldsOf));
    });
    const id = textOf(info['id']);
    if (id === null) yield { place, skipped: 'empty' };
    else yield { place, conversation: conversationOf(id, info, messages) };
  }
}

async function* readFiles(file: SourceFile, options: ReadOptions): AsyncGenerator<SourceReading, void> {
  const place = null;
  const stored = await storedSession(file, options);
  if (stored === null) return;
  const { id, info } = stored;
  if (info['parentID'] != null) {
    yield { place, skipped: 'subagent' };
    return;
  }
  const messages = stored.messages.flatMap((one) => messageOf(one.id, one.message, one.parts));
  if (messages.length === 0) yield { place, skipped: 'empty' };
  else yield { place, conversation: conversationOf(id, info, messages) };
}

function conversationOf(
  id: string,
  info: ForeignFields,
  messages: readonly ForeignMessage[],
): ForeignConversation {
  const created = timeOfMilliseconds(fieldsOf(info['time'])['created']);
  return { id, title: textOf(info['title']), created, system: null, branches: singleBranch(messages) };
}

function messageOf(
  id: string,
  message: ForeignFields,
  parts: readonly ForeignFields[],
): readonly ForeignMessage[] {
  const { role } = message;
  // Versions before 0.3 keep these facts in `metadata`.
  const early = fieldsOf(message['metadata']);
  if (role !== 'user' && role !== 'assistant') return [];
  return [
    {
      id,
      role,
      finish: finishOf(message['finish'], message['error'] ?? early['error']),
      time: timeOfMilliseconds(fieldsOf(message['time'] ?? early['time'])['created']),
      model: role === 'user' ? null : textOf(message['modelID'] ?? fieldsOf(early['assistant'])['modelID']),
      parts: parts.flatMap(partOf),
    },
  ];
}

function partOf(part: ForeignFields): readonly Part[] {
  const text = textOf(part['text']);
  switch (part['type']) {
    case 'text':
      return textParts('text', part['synthetic'] === true ? null : text);
    case 'reasoning':
      return textParts('thinking', text);
    case 'file':
      return [
        {
          kind: 'attachment',
          name: textOf(part['filename']) ?? asText(part['mime'] ?? part['mediaType']),
          text: null,
        },
      ];
    case 'tool': {
      const state = fieldsOf(part['state']);
      const output = textOf(state['output']) ?? textOf(state['error']);
      const call: Part = { kind: 'tool', name: asText(part['tool']), input: asText(state['input']) };
      return output === null ? [call] : [call, { kind: 'result', name: null, text: output }];
    }
    case 'tool-invocation': {
      const { toolName, args, result } = fieldsOf(part['toolInvocation']);
      const call: Part = { kind: 'tool', name: asText(toolName), input: asText(args) };
      return result === undefined ? [call] : [call, { kind: 'result', name: null, text: asText(result) }];
    }
    default:
      return [];
  }
}
