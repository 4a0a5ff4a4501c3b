// The transcripts of Claude Code: a file of JSON lines for each session, below `projects`. Each line names its parent, so an edited message
// starts a branch. A reply has several lines. The result of a tool is a line of the user and is moved next to its call. A message that the user
// sent while the model worked is an attachment.
import { basename } from 'node:path';
import type { FinishReason } from '../../../service/session.ts';
import { branchesOf, type TreeNode } from '../branches.ts';
import { type Part, type SourceReading, textParts } from '../conversation.ts';
import { asText, type ForeignFields, fieldsOf, listOf, textOf, timeOfText } from '../foreign-value.ts';
import { jsonLines } from '../json-lines.ts';
import { SessionSize } from '../session-size.ts';
import type { Source } from '../source.ts';
import { isInterruption, partsOfUserText } from './claude-code-text.ts';

const idForm = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const recordType =
  /"type"\s*:\s*"(user|assistant|summary|queue-operation|file-history-snapshot|system|mode|permission-mode|attachment|last-prompt)"/;

/** The most lines without a message between two lines of one reply: the results of its calls. */
const maxLinesBetween = 1000;

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

/** The kinds of titles. A later one goes before the earlier ones. */
const titleKinds = ['summary', 'aiTitle', 'customTitle'] as const;

/** The parts of a message in groups. The results of a call go into the group of the call, whenever they come. */
type PartGroups = Part[][];

interface TranscriptNode extends TreeNode {
  readonly groups: PartGroups;
}

class Transcript {
  /** The name of the file, or the id in its lines if the name is not an id. */
  #id: string;
  readonly #nodes = new Map<string, TranscriptNode>();
  /** The parts of each call, by its id. */
  readonly #calls = new Map<string, Part[]>();
  /** The first node of each reply, by the id of the reply. */
  readonly #replies = new Map<string, string>();
  /** The ids of the messages that the user sent while the model worked. */
  readonly #queued = new Set<string>();
  readonly #titles = new Map<(typeof titleKinds)[number], string>();
  /** Summaries with the message that they end at. Older versions put those of other conversations into a file. */
  readonly #summaries: { readonly summary: string; readonly leaf: string | null }[] = [];
  #isSidechain = false;
  #last: string | null = null;
  #created: number | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  take(line: ForeignFields): void {
    if (!idForm.test(this.#id)) this.#id = textOf(line['sessionId']) ?? this.#id;
    this.#takeTitle(line);
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
    this.#nodes.set(id, this.#nodeOf(line, { id, parent, time }));
    if (this.#nodes.get(id)?.message !== null) this.#last = id;
  }

  end(): SourceReading {
    const place = null;
    for (const { summary, leaf } of this.#summaries)
      if (leaf === null || this.#nodes.has(leaf)) this.#titles.set('summary', summary);
    if (this.#last === null) return { place, skipped: this.#isSidechain ? 'subagent' : 'empty' };
    const nodes = [...this.#nodes.values()].map(({ groups, ...node }): TreeNode => {
      return { ...node, message: node.message && { ...node.message, parts: groups.flat() } };
    });
    const title = titleKinds.map((kind) => this.#titles.get(kind)).findLast((one) => one !== undefined);
    const facts = { id: this.#id, title: title ?? null, created: this.#created, system: null };
    return { place, conversation: { ...facts, branches: branchesOf(nodes, this.#last) } };
  }

  #takeTitle(line: ForeignFields): void {
    const summary = textOf(line['summary']);
    if (line['type'] === 'summary' && summary !== null)
      this.#summaries.push({ summary, leaf: textOf(line['leafUuid']) });
    if (line['type'] !== 'custom-title' && line['type'] !== 'ai-title') return;
    for (const kind of titleKinds) {
      const title = textOf(line[kind]);
      if (title !== null) this.#titles.set(kind, title);
    }
  }

  #nodeOf(
    line: ForeignFields,
    place: { readonly id: string; readonly parent: string | null; readonly time: number | null },
  ): TranscriptNode {
    const { id, parent, time } = place;
    const message = fieldsOf(line['message']);
    const isReply = line['type'] === 'assistant';
    const content = isReply || line['type'] === 'user' ? message['content'] : this.#queuedPrompt(line);
    // A summary of a long conversation, which replaces it for the model, is written as a message of the user.
    const isHidden = line['isMeta'] === true || line['isCompactSummary'] === true;
    const blocks = typeof content === 'string' ? [content] : listOf(content);
    const groups = isHidden ? [] : this.#groupsOf(blocks, isReply);
    if (!isReply && blocks.some((block) => isInterruption(blockText(block) ?? '')))
      this.#finish(this.#shownAt(parent), 'interrupted');
    if (groups.length === 0) return { id, parent, message: null, groups };
    const finish = message['stop_reason'] === 'max_tokens' ? 'length' : null;
    const begun = isReply ? this.#beginningOf(textOf(message['id']), id, parent) : null;
    if (begun !== null) {
      begun.groups.push(...groups);
      if (finish !== null) this.#finish(begun, finish);
      return { id, parent, message: null, groups: [] };
    }
    const isPrinted = groups.flat().every(({ kind }) => kind === 'result');
    const model = textOf(message['model']);
    return {
      ...{ id, parent, groups },
      message: {
        ...{ id, time, finish, parts: [] },
        role: isReply || isPrinted ? 'assistant' : 'user',
        model: isReply && model !== '<synthetic>' ? model : null,
      },
    };
  }

  /** A message that the user sent while the model worked. Undefined for any other line, and for a message that is there already. */
  #queuedPrompt(line: ForeignFields): unknown {
    const { type, prompt, commandMode, origin, isMeta, source_uuid } = fieldsOf(line['attachment']);
    const { kind = 'human' } = fieldsOf(origin);
    if (type !== 'queued_command' || kind !== 'human' || isMeta === true) return undefined;
    if (commandMode !== undefined && commandMode !== 'prompt') return undefined;
    const id = textOf(source_uuid);
    if (id !== null && (this.#queued.has(id) || this.#nodes.has(id))) return undefined;
    if (id !== null) this.#queued.add(id);
    return prompt;
  }

  /**
   * The node of the same reply that the line continues. The lines of a reply follow each other, but the next line may follow the result of any of
   * its calls. Null for the first line, and for a reply whose server gives all replies one id.
   */
  #beginningOf(reply: string | null, id: string, parent: string | null): TranscriptNode | null {
    if (reply === null) return null;
    const before = this.#shownAt(parent);
    if (before !== undefined && before.id === this.#replies.get(reply)) return before;
    this.#replies.set(reply, id);
    return null;
  }

  /** The node itself, or the nearest one above it with a message. */
  #shownAt(id: string | null): TranscriptNode | undefined {
    let at = id === null ? undefined : this.#nodes.get(id);
    for (let steps = 0; steps < maxLinesBetween && at?.message === null && at.parent !== null; steps += 1)
      at = this.#nodes.get(at.parent);
    return at;
  }

  #finish(node: TranscriptNode | undefined, finish: FinishReason): void {
    if (node?.message?.role !== 'assistant') return;
    this.#nodes.set(node.id, { ...node, message: { ...node.message, finish } });
  }

  #groupsOf(content: readonly unknown[], isReply: boolean): PartGroups {
    return content.flatMap((one) => {
      const group = this.#partsOf(one, isReply);
      return group.length === 0 ? [] : [group];
    });
  }

  /** The parts of a block. The result of a tool is put next to its call, if that is known. */
  #partsOf(block: unknown, isReply: boolean): Part[] {
    const value = fieldsOf(block);
    const { type = typeof block === 'string' ? 'text' : undefined } = value;
    switch (type) {
      case 'text': {
        const text = blockText(block);
        return text === null || isReply ? [...textParts('text', text)] : [...partsOfUserText(text)];
      }
      case 'thinking':
        return [...textParts('thinking', textOf(value['thinking']))];
      case 'tool_use': {
        const call: Part[] = [
          { kind: 'tool', name: textOf(value['name']) ?? 'tool', input: asText(value['input']) },
        ];
        this.#calls.set(asText(value['id']), call);
        return call;
      }
      case 'tool_result': {
        const { content } = value;
        const texts = listOf(content).map(
          (one) => textOf(fieldsOf(one)['text']) ?? `[${asText(fieldsOf(one)['type'])}]`,
        );
        const text = typeof content === 'string' ? content : texts.join('\n');
        const result: Part = { kind: 'result', name: null, text };
        const call = this.#calls.get(asText(value['tool_use_id']));
        if (call === undefined) return [result];
        call.push(result);
        return [];
      }
      case 'image':
      case 'document':
        return [{ kind: 'attachment', name: textOf(value['title']) ?? type, text: null }];
      default:
        return [];
    }
  }
}

function blockText(block: unknown): string | null {
  return textOf(block) ?? textOf(fieldsOf(block)['text']);
}
