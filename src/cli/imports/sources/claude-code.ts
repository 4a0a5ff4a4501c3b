// The transcripts of Claude Code: a file of JSON lines for each session, below `projects`. Each line names its parent, so an edited message
// starts a branch. A reply has several lines. The result of a tool is a line of the user and is moved next to its call.
import { basename } from 'node:path';
import { branchesOf, type TreeNode } from '../branches.ts';
import { type ForeignMessage, type Part, type SourceReading, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonLines } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source } from '../source.ts';

const idForm = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const recordType =
  /"type"\s*:\s*"(user|assistant|summary|queue-operation|file-history-snapshot|system|mode|permission-mode|attachment|last-prompt)"/;

/** After how many days Claude Code deletes a transcript, unless its settings say otherwise. */
const keptDays = 30;

export const claudeCode: Source = {
  name: 'claude-code',
  title: 'Claude Code transcript',
  recognises: ({ name, text }) =>
    name.endsWith('.jsonl') &&
    /^\s*\{/.test(text) &&
    // The first lines may be records that name neither the session nor a message, and be longer than the head.
    /"(sessionId|parentUuid|leafUuid)"\s*:|"type"\s*:\s*"file-history-snapshot"/.test(text) &&
    recordType.test(text),
  places: ({ home, env }) => {
    const path = `${env['CLAUDE_CONFIG_DIR'] ?? `${home}/.claude`}/projects`;
    return [{ path, pattern: /\.jsonl$/, keptDays }];
  },
  async *read(file, { signal }) {
    const session = new Transcript(basename(file.path, '.jsonl'));
    const size = new SessionSize(file.path);
    for await (const { place, value, failure } of jsonLines(file.open(signal), size)) {
      if (failure !== null) yield { place, failure };
      else session.take(fieldsOf(value));
    }
    yield session.end();
  },
};

class Transcript {
  /** The name of the file, or the id in its lines if the name is not an id. */
  #id: string;
  readonly #nodes = new Map<string, TreeNode>();
  /** The parts of the message that called a tool, by the id of the call. */
  readonly #calls = new Map<string, Part[]>();
  #title: string | null = null;
  #isSidechain = false;
  #last: string | null = null;
  #created: number | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  take(line: ForeignFields): void {
    const { type } = line;
    if (!idForm.test(this.#id)) this.#id = textOf(line['sessionId']) ?? this.#id;
    if (type === 'summary' || type === 'custom-title' || type === 'ai-title')
      this.#title =
        textOf(line['summary']) ?? textOf(line['customTitle']) ?? textOf(line['aiTitle']) ?? this.#title;
    const id = textOf(line['uuid']);
    if (id === null) return;
    if (line['isSidechain'] === true) {
      this.#isSidechain = true;
      return;
    }
    const time = timeOfText(line['timestamp']);
    this.#created ??= time;
    const parent = textOf(line['parentUuid']) ?? textOf(line['logicalParentUuid']);
    // A resumed session repeats lines.
    if (this.#nodes.has(id)) return;
    const message = this.#messageOf(line, id, time);
    this.#nodes.set(id, { id, parent, message });
    if (message !== null) this.#last = id;
  }

  end(): SourceReading {
    const place = null;
    if (this.#last === null) return { place, skipped: this.#isSidechain ? 'subagent' : 'empty' };
    const branches = branchesOf([...this.#nodes.values()], this.#last);
    const conversation = { id: this.#id, title: this.#title, created: this.#created, system: null, branches };
    return { place, conversation };
  }

  #messageOf(line: ForeignFields, id: string, time: number | null): ForeignMessage | null {
    const { type } = line;
    if ((type !== 'user' && type !== 'assistant') || line['isMeta'] === true) return null;
    const message = fieldsOf(line['message']);
    const model = textOf(message['model']);
    const { content } = message;
    const parts: Part[] = [];
    if (typeof content === 'string') parts.push({ kind: 'text', text: content });
    for (const one of listOf(content)) this.#addPart(fieldsOf(one), parts);
    if (parts.length === 0) return null;
    return {
      id,
      role: type,
      time,
      parts,
      model: type === 'user' || model === '<synthetic>' ? null : model,
      finish: message['stop_reason'] === 'max_tokens' ? 'length' : null,
    };
  }

  #addPart(value: ForeignFields, parts: Part[]): void {
    const { type } = value;
    switch (type) {
      case 'text':
      case 'thinking':
        parts.push(...textParts(type, textOf(value['text']) ?? textOf(value['thinking'])));
        return;
      case 'tool_use': {
        parts.push({ kind: 'tool', name: textOf(value['name']) ?? 'tool', input: asText(value['input']) });
        this.#calls.set(asText(value['id']), parts);
        return;
      }
      case 'tool_result': {
        const { content } = value;
        const texts = listOf(content).map(
          (one) => textOf(fieldsOf(one)['text']) ?? `[${asText(fieldsOf(one)['type'])}]`,
        );
        const result = typeof content === 'string' ? content : texts.join('\n');
        const call = this.#calls.get(asText(value['tool_use_id'])) ?? parts;
        call.push({ kind: 'result', name: null, text: result });
        return;
      }
      case 'image':
      case 'document':
        parts.push({ kind: 'attachment', name: textOf(value['title']) ?? type, text: null });
    }
  }
}
