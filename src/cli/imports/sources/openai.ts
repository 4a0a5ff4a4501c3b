// Saved items of OpenAI's API: messages of a thread (`thread.message`), items of a conversation, lists of both, and lines of `{"messages":[…]}`,
// which `sessions export --format openai-jsonl` writes.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Role } from '../../../service/session.ts';
import { type ForeignMessage, type Part, type SourceReading, singleBranch } from '../conversation.ts';
import {
  asText,
  type ForeignFields,
  fieldsOf,
  listOf,
  textOf,
  timeOfSeconds,
  timeOfText,
} from '../foreign-value.ts';
import { jsonValues } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source } from '../source.ts';

interface OpenConversation {
  readonly id: string;
  readonly items: ForeignFields[];
}

export const openai: Source = {
  name: 'openai',
  title: 'OpenAI items',
  recognises: ({ text }) =>
    /^\s*[[{]/.test(text) &&
    (/"object"\s*:\s*"(thread\.message|list)"/.test(text) ||
      /"role"\s*:\s*"(user|assistant|system|developer)"/.test(text)) &&
    /"(content|messages|data)"\s*:/.test(text),
  async *read(file, { signal }) {
    const name = basename(file.path);
    // Single items belong to their thread, or to one conversation of the file.
    const threads = new Map<string, OpenConversation>();
    let number = 0;
    let fallbackId: string | null = null;
    const size = new SessionSize(file.path);
    for await (const { place, value, failure, bytes = 0 } of jsonValues(file.open(signal))) {
      number += 1;
      if (failure !== null) {
        yield { place, failure };
        continue;
      }
      const fields = fieldsOf(value);
      if (Array.isArray(fields['messages'])) {
        const messages = fields['messages'].map(fieldsOf);
        const ownId = textOf(fields['id']) ?? textOf(fieldsOf(fields['metadata'])['session_id']);
        const id = ownId ?? `${name}#${number}-${fingerprintOf(messages)}`;
        yield conversationOf(place, { id, items: messages }, fields);
        continue;
      }
      size.add(bytes);
      const items = Array.isArray(fields['data']) ? fields['data'].map(fieldsOf) : [fields];
      for (const item of items) {
        fallbackId ??= `${name}-${fingerprintOf(items)}`;
        const id = textOf(item['thread_id']) ?? fallbackId;
        const thread = threads.get(id) ?? { id, items: [] };
        threads.set(id, thread);
        thread.items.push(item);
      }
    }
    for (const thread of threads.values()) yield conversationOf(`conversation ${thread.id}`, thread, {});
  },
};

function conversationOf(
  place: string,
  { id, items }: OpenConversation,
  fields: ForeignFields,
): SourceReading {
  const times = items.map(timeOf);
  // The API lists the newest first.
  const isReversed = times.length > 1 && (times[0] ?? 0) > (times.at(-1) ?? 0);
  const ordered = isReversed ? items.toReversed() : items;
  const system = ordered.flatMap((item) =>
    item['role'] === 'system' || item['role'] === 'developer' ? textsOf(item['content']) : [],
  );
  const metadata = fieldsOf(fields['metadata']);
  return {
    place,
    conversation: {
      id,
      title: textOf(fields['title']) ?? textOf(metadata['title']),
      user: textOf(fields['user']) || null,
      created: timeOfSeconds(fields['created_at']) ?? timeOfText(metadata['created_at']),
      system: system.join('\n\n').trim() === '' ? null : system.join('\n\n'),
      branches: singleBranch(ordered.flatMap(messageOf)),
    },
  };
}

/** Distinguishes conversations without ids in files with the same name. Stays the same while a conversation grows. */
function fingerprintOf([first]: readonly ForeignFields[]): string {
  return createHash('sha256')
    .update(JSON.stringify(first ?? null))
    .digest('hex')
    .slice(0, 16);
}

function timeOf(item: ForeignFields): number | null {
  return timeOfSeconds(item['created_at']) ?? timeOfText(item['created_at']);
}

const roles: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'assistant'],
]);

function messageOf(item: ForeignFields): readonly ForeignMessage[] {
  const role =
    roles.get(asText(item['role'])) ??
    (item['role'] === undefined && item['type'] !== undefined ? 'assistant' : null);
  if (role === null) return [];
  const facts = { id: textOf(item['id']), role, time: timeOf(item), finish: null };
  return [{ ...facts, model: textOf(item['model']), parts: partsOf(item) }];
}

function partsOf(item: ForeignFields): readonly Part[] {
  const type = asText(item['type']);
  if (type.endsWith('_call')) return partsOfCall(item, type);
  if (type.endsWith('_call_output')) return [{ kind: 'result', name: null, text: outputOf(item['output']) }];
  if (type === 'reasoning')
    return [...textsOf(item['summary']), ...textsOf(item['content'])].map((text) => ({
      kind: 'thinking',
      text,
    }));
  if (item['role'] === 'tool')
    return [{ kind: 'result', name: null, text: textsOf(item['content']).join('\n') }];
  const calls = listOf(item['tool_calls']).map((one): Part => {
    const call = fieldsOf(fieldsOf(one)['function']);
    return { kind: 'tool', name: asText(call['name']), input: asText(call['arguments']) };
  });
  const { content } = item;
  const contents =
    typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
  const parts = contents.flatMap((part): readonly Part[] => {
    const [text] = textsOf([part]);
    if (text !== undefined) return text === '' ? [] : [{ kind: 'text', text }];
    const file = fieldsOf(part['image_file']);
    return [
      {
        kind: 'attachment',
        name: textOf(part['filename']) ?? textOf(file['file_id']) ?? asText(part['type']),
        text: null,
      },
    ];
  });
  const files = listOf(item['attachments']).flatMap((one): readonly Part[] => {
    const name = textOf(fieldsOf(one)['file_id']);
    return name === null ? [] : [{ kind: 'attachment', name, text: null }];
  });
  return [...files, ...parts, ...calls];
}

/** Tools of the API have no name but their type, and have their result in the call. */
function partsOfCall(item: ForeignFields, type: string): readonly Part[] {
  const input = item['arguments'] ?? item['input'] ?? item['action'] ?? item['code'] ?? item['queries'];
  const call: Part = { kind: 'tool', name: textOf(item['name']) ?? type, input: asText(input) };
  const text = outputOf(item['output'] ?? item['outputs'] ?? item['error']);
  return text === '' ? [call] : [call, { kind: 'result', name: null, text }];
}

/** A text, a list of texts, or any other value. */
function outputOf(output: unknown): string {
  const texts = textsOf(output);
  return texts.length === 0 ? asText(output) : texts.join('\n');
}

/** A text, or parts whose `text` is a text or `{"value":…}`. */
function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  return listOf(content).flatMap((one) => {
    const { text, refusal } = fieldsOf(one);
    const words = textOf(text) ?? textOf(fieldsOf(text)['value']) ?? textOf(refusal);
    return words === null ? [] : [words];
  });
}
