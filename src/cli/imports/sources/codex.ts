// The sessions of Codex: a file of JSON lines each, `rollout-….jsonl`; old ones are compressed as `.jsonl.zst`. The messages are in the lines
// `response_item`; the lines `event_msg` repeat them. Messages that start with a tag are from the program, not the user.
import { type Duplex, pipeline } from 'node:stream';
import zlib from 'node:zlib';
import { ParleyError } from '../../../service/errors.ts';
import { type ForeignMessage, type Part, singleBranch, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonLines } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source, SourceFile } from '../source.ts';

const nameForm = /^rollout-.*?([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl(\.zst)?$/;

export const codex: Source = {
  name: 'codex',
  title: 'Codex session',
  recognises: ({ name, text }) =>
    nameForm.test(name) ||
    /^\s*\{\s*"timestamp"\s*:\s*"[^"]*"\s*,[^\n]{0,80}"type"\s*:\s*"session_meta"/.test(text),
  places: ({ home, env }) => {
    const root = env['CODEX_HOME'] ?? `${home}/.codex`;
    const pattern = /\/rollout-[^/]*\.jsonl(\.zst)?$/;
    return ['sessions', 'archived_sessions'].map((folder) => ({
      path: `${root}/${folder}`,
      pattern,
      keptDays: null,
    }));
  },
  async *read(file, { signal }) {
    const [, idInName = null] = nameForm.exec(file.path.replace(/^.*\//, '')) ?? [];
    const session = new CodexSession(idInName);
    const size = new SessionSize(file.path);
    for await (const { place, value, failure } of jsonLines(plainBytes(file, signal), size)) {
      if (failure !== null) yield { place, failure };
      else session.take(fieldsOf(value));
    }
    const { id, messages, created } = session;
    const place = null;
    if (id === null || messages.length === 0) yield { place, skipped: 'empty' };
    else
      yield {
        place,
        conversation: { id, title: null, created, system: null, branches: singleBranch(messages) },
      };
  },
};

class CodexSession {
  id: string | null;
  created: number | null = null;
  readonly messages: ForeignMessage[] = [];
  #model: string | null = null;

  constructor(id: string | null) {
    this.id = id;
  }

  take(line: ForeignFields): void {
    const payload = fieldsOf(line['payload']);
    const time = timeOfText(line['timestamp']);
    switch (line['type']) {
      case 'session_meta':
        this.id ??= textOf(payload['id']);
        this.created ??= timeOfText(payload['timestamp']) ?? time;
        return;
      case 'turn_context':
        this.#model = textOf(payload['model']) ?? this.#model;
        return;
      case 'response_item':
        this.#add(payload, time);
        return;
      default:
        // Early versions wrote the items themselves as lines.
        if (line['payload'] === undefined) {
          this.id ??= textOf(line['id']);
          this.created ??= time;
          this.#add(line, time);
        }
    }
  }

  #add(item: ForeignFields, time: number | null): void {
    const role = item['role'] === 'user' ? 'user' : 'assistant';
    const isInstruction =
      item['type'] === 'message' && item['role'] !== 'user' && item['role'] !== 'assistant';
    const parts = isInstruction ? [] : partsOf(item);
    if (parts.length === 0) return;
    const isReply = role === 'assistant';
    const id = item['type'] === 'message' ? textOf(item['id']) : null;
    this.messages.push({ id, role, time, parts, finish: null, model: isReply ? this.#model : null });
  }
}

/** A text that the program added to the messages of the user. */
const fromProgram = /^\s*<(environment_context|user_instructions|turn_aborted)>|^# AGENTS\.md instructions/;

function partsOf(item: ForeignFields): readonly Part[] {
  switch (item['type']) {
    case 'message': {
      const isOwn = item['role'] === 'user';
      return listOf(item['content']).flatMap((one): readonly Part[] => {
        const content = fieldsOf(one);
        const text = textOf(content['text']);
        if (text === null)
          return content['type'] === 'input_image' ? [{ kind: 'attachment', name: 'image', text: null }] : [];
        return textParts('text', isOwn && fromProgram.test(text) ? null : text);
      });
    }
    case 'reasoning':
      return [...listOf(item['summary']), ...listOf(item['content'])].flatMap((one) =>
        textParts('thinking', textOf(fieldsOf(one)['text'])),
      );
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call': {
      const input = item['arguments'] ?? item['input'] ?? item['action'];
      return [{ kind: 'tool', name: textOf(item['name']) ?? asText(item['type']), input: asText(input) }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ kind: 'result', name: null, text: asText(item['output']) }];
    default:
      return [];
  }
}

/** The decompressed bytes of a file. Node supports zstd since 22.15. */
async function* plainBytes(file: SourceFile, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  if (!file.path.endsWith('.zst')) {
    yield* file.open(signal);
    return;
  }
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: () => Duplex };
  if (createZstdDecompress === undefined)
    throw unreadable(`${file.path} is compressed with zstd, which this version of Node cannot read.`, null);
  try {
    const plain = createZstdDecompress();
    // A failure destroys the stream, so the reader gets it.
    pipeline(file.open(signal), plain, () => {});
    yield* plain as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ParleyError ? error : unreadable(`${file.path} is not valid zstd data.`, error);
  }
}

function unreadable(problem: string, cause: unknown): ParleyError {
  return new ParleyError('INVALID_REQUEST', problem, {
    hint: 'Use Node 22.15 or newer, or decompress the file with zstd -d.',
    cause,
  });
}
