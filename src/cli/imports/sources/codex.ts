// The sessions of Codex: a file of JSON lines each, `rollout-….jsonl`; old ones are compressed as `.jsonl.zst`. The messages are in the lines
// `response_item`; the lines `event_msg` repeat them. Messages that start with a tag are from the program, not the user.
import { type Duplex, pipeline } from 'node:stream';
import zlib from 'node:zlib';
import { ParleyError } from '../../../service/errors.ts';
import { branchesOf, type TreeNode } from '../branches.ts';
import { type ForeignMessage, type Part, textParts } from '../conversation.ts';
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
    const { id, nodes, last, created, isSubagent } = session;
    const place = null;
    if (isSubagent) yield { place, skipped: 'subagent' };
    else if (id === null || nodes.length === 0) yield { place, skipped: 'empty' };
    else
      yield {
        place,
        conversation: { id, title: null, created, system: null, branches: branchesOf(nodes, last) },
      };
  },
};

interface CodexNode extends TreeNode {
  message: ForeignMessage;
}

class CodexSession {
  id: string | null;
  created: number | null = null;
  /** The first `session_meta` is of this session. A fork has those of the sessions that it was copied from, too. */
  isSubagent: boolean | null = null;
  readonly nodes: CodexNode[] = [];
  /** The nodes that were not taken back. */
  readonly #current: CodexNode[] = [];
  /** The positions in `#current` at which the user began a turn. */
  readonly #turns: number[] = [];
  #model: string | null = null;

  constructor(id: string | null) {
    this.id = id;
  }

  /** The id of the last node that was not taken back. */
  get last(): string | null {
    return this.#current.at(-1)?.id ?? null;
  }

  take(line: ForeignFields): void {
    const payload = fieldsOf(line['payload']);
    const time = timeOfText(line['timestamp']);
    switch (line['type']) {
      case 'session_meta':
        this.id ??= textOf(payload['id']);
        this.created ??= timeOfText(payload['timestamp']) ?? time;
        this.isSubagent ??= 'subagent' in fieldsOf(payload['source']);
        return;
      case 'turn_context':
        this.#model = textOf(payload['model']) ?? this.#model;
        return;
      case 'response_item':
        this.#add(payload, time);
        return;
      case 'event_msg':
        if (payload['type'] === 'thread_rolled_back') this.#takeBack(Number(payload['num_turns']));
        if (payload['type'] === 'turn_aborted') this.#interrupt();
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
    const message = { id, role, time, parts, finish: null, model: isReply ? this.#model : null } as const;
    const node = { id: String(this.nodes.length), parent: this.last, message };
    if (isOwnTurn(message)) this.#turns.push(this.#current.length);
    this.nodes.push(node);
    this.#current.push(node);
  }

  /** Marks the reply that was stopped. */
  #interrupt(): void {
    const last = this.#current.at(-1);
    if (last?.message.role === 'assistant') last.message = { ...last.message, finish: 'interrupted' };
  }

  /** Takes the last `turns` messages of the user back, with everything after the first of them. */
  #takeBack(turns: number): void {
    if (!(turns > 0)) return;
    const [first] = this.#turns.splice(Math.max(0, this.#turns.length - turns));
    if (first !== undefined) this.#current.length = first;
  }
}

/** A command that the user ran in the shell begins no turn. */
function isOwnTurn({ role, parts: [part] }: ForeignMessage): boolean {
  return role === 'user' && !(part?.kind === 'text' && part.text.startsWith('<user_shell_command>'));
}

/** A text that the program added to the messages of the user. */
const fromProgram =
  /^\s*<(environment_context|user_instructions|turn_aborted|skill|subagent_notification|goal_context|extension_context)>|^\s*<(hook_prompt|codex_internal_context) |^# AGENTS\.md instructions|^<image( name=[^>]*)?>$|^<\/image>$/;

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
    case 'web_search_call':
    case 'tool_search_call':
    case 'image_generation_call': {
      const input = item['arguments'] ?? item['input'] ?? item['action'] ?? item['revised_prompt'];
      return [{ kind: 'tool', name: textOf(item['name']) ?? asText(item['type']), input: asText(input) }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ kind: 'result', name: null, text: outputOf(item['output']) }];
    default:
      return [];
  }
}

/** A text, or a list of texts and images. */
function outputOf(output: unknown): string {
  if (!Array.isArray(output)) return asText(output);
  return output
    .map((one) => textOf(fieldsOf(one)['text']) ?? `[${asText(fieldsOf(one)['type'])}]`)
    .join('\n');
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
