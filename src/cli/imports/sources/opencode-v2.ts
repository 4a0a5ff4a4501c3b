// The messages of opencode 2: a row of `session_message` each, whose `data` has its texts. An upgrade copies the sessions of version 1 into
// `session_v2`, with the same ids, and leaves the old tables as they were.
import type { FinishReason } from '../../../service/session.ts';
import { type ForeignMessage, type Part, textParts } from '../conversation.ts';
import type { DatabaseRow, ForeignDatabase } from '../foreign-database.ts';
import {
  asText,
  type ForeignFields,
  fieldsOf,
  listOf,
  parsedFields,
  textOf,
  timeOfMilliseconds,
} from '../foreign-value.ts';

export function newSessions(database: ForeignDatabase): readonly DatabaseRow[] {
  if (!database.hasTable('session_v2')) return [];
  return database.rows('SELECT id, parent_id, title, time_created FROM session_v2 ORDER BY time_created, id');
}

export function newMessages(session: string, database: ForeignDatabase): readonly ForeignMessage[] {
  return database
    .rows('SELECT id, type, data FROM session_message WHERE session_id = @session ORDER BY seq', { session })
    .flatMap(({ id, type, data }) => messagesOf(asText(id), type, parsedFields(data)));
}

/** Messages of other types are from the program. */
function messagesOf(id: string, type: unknown, data: ForeignFields): readonly ForeignMessage[] {
  const time = timeOfMilliseconds(fieldsOf(data['time'])['created']);
  const own = { id, role: 'user', time, model: null, finish: null } as const;
  switch (type) {
    case 'user': {
      const files = listOf(data['files']).map((file): Part => {
        return { kind: 'attachment', name: fileName(fieldsOf(file)), text: null };
      });
      return [{ ...own, parts: [...files, ...textParts('text', textOf(data['text']))] }];
    }
    case 'assistant': {
      const model = textOf(fieldsOf(data['model'])['id']);
      const finish = finishOf(data['finish'], data['error']);
      const parts = listOf(data['content']).map(fieldsOf).flatMap(partsOf);
      return [{ id, role: 'assistant', time, model, finish, parts }];
    }
    case 'shell': {
      const output = textOf(fieldsOf(data['output'])['output']) ?? textOf(data['output']);
      const printed: readonly Part[] = output === null ? [] : [{ kind: 'result', name: null, text: output }];
      return [
        { ...own, parts: [{ kind: 'text', text: `!${asText(data['command'])}` }] },
        { ...own, id: `${id}-output`, role: 'assistant', parts: printed },
      ];
    }
    default:
      return [];
  }
}

function partsOf(part: ForeignFields): readonly Part[] {
  if (part['type'] === 'text') return textParts('text', textOf(part['text']));
  if (part['type'] === 'reasoning') return textParts('thinking', textOf(part['text']));
  if (part['type'] !== 'tool') return [];
  const state = fieldsOf(part['state']);
  const outputs = listOf(state['content']).map((one) => {
    const { text, type } = fieldsOf(one);
    return textOf(text) ?? `[${asText(type)}]`;
  });
  const error = textOf(fieldsOf(state['error'])['message']);
  const text = [...outputs, ...(error === null ? [] : [error])].join('\n');
  const call: Part = { kind: 'tool', name: asText(part['name']), input: asText(state['input']) };
  return text === '' ? [call] : [call, { kind: 'result', name: null, text }];
}

/** `error` is missing for a complete reply. */
export function finishOf(finish: unknown, error: unknown): FinishReason | null {
  const { name, type } = fieldsOf(error);
  const kind = `${asText(name)} ${asText(type)}`;
  if (finish === 'length' || /OutputLength/.test(kind)) return 'length';
  if (error === undefined || error === null) return null;
  return /abort|interrupt/i.test(kind) ? 'interrupted' : 'error';
}

/** A `data:` address is the file itself. */
function fileName({ name, uri, mime }: ForeignFields): string {
  const address = textOf(uri)?.startsWith('data:') === false ? textOf(uri) : null;
  return textOf(name) ?? address ?? textOf(mime) ?? 'file';
}
