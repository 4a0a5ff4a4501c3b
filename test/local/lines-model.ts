// The messages of a session as plain arrays: the expected state after chats, other replies, undo, redo and forks.

export interface ModelReply {
  readonly content: string;
  readonly finish: 'stop' | 'error' | 'interrupted';
}

export interface ModelTurn {
  readonly asked: string;
  /** Null for an abandoned turn. */
  reply: ModelReply | null;
  /** The first complete reply of the message. */
  first: ModelReply | null;
  /** The key of its chat. */
  readonly key: string | null;
}

const isWhole = ({ finish }: ModelReply) => finish === 'stop';

export class ModelSession {
  readonly id: string;
  /** The number of its project. Two projects may have sessions of one id. */
  readonly project: number;
  readonly line: ModelTurn[];
  /** The turns that redo can show, the last undone at the end. */
  redoable: ModelTurn[] = [];
  /** All undone turns. */
  undone: ModelTurn[] = [];
  alternatives: { readonly of: string; readonly reply: ModelReply }[] = [];
  isDeleted = false;

  constructor(id: string, line: readonly ModelTurn[] = [], project = 0) {
    this.id = id;
    this.project = project;
    this.line = line.map((turn) => ({
      ...turn,
      key: null,
      first: turn.reply && isWhole(turn.reply) ? turn.reply : null,
    }));
  }

  /** The same session, for a change that may not have happened. */
  copy(): ModelSession {
    const { id, project, isDeleted } = this;
    // One clone, so that a turn in two of the arrays stays one turn.
    const { line, redoable, undone, alternatives } = structuredClone({
      ...{ line: this.line, redoable: this.redoable, undone: this.undone, alternatives: this.alternatives },
    });
    const copy = new ModelSession(id, [], project);
    copy.line.push(...line);
    return Object.assign(copy, { redoable, undone, alternatives, isDeleted });
  }

  /** The session as imported into another project: without keys, and without turns for redo. */
  imported(project: number): ModelSession {
    const { line, undone, alternatives } = this.copy();
    const keyless = (turn: ModelTurn) => ({ ...turn, key: null });
    const session = new ModelSession(this.id, line, project);
    return Object.assign(session, { undone: undone.map(keyless), alternatives });
  }

  /** All texts, visible and hidden, without the ends of the replies. */
  texts(): readonly string[] {
    const turns = [...this.line, ...this.undone];
    const replies = [...turns.map(({ reply }) => reply), ...this.alternatives.map(({ reply }) => reply)];
    return [...turns.map(({ asked }) => asked), ...replies.flatMap((reply) => reply?.content ?? [])];
  }

  /** What an engine must get before the message of a turn. */
  contextBefore(turn: ModelTurn): readonly string[] {
    return this.line.slice(0, this.line.indexOf(turn)).flatMap(textsOf);
  }

  visible(): readonly string[] {
    return this.line.flatMap(textsOf);
  }

  hidden(): readonly string[] {
    return [
      ...this.undone.flatMap(textsOf).map((text) => `undone ${text}`),
      ...this.alternatives.map(({ of, reply }) => `alternative of ${of}: ${textOf(reply)}`),
    ].sort();
  }

  ask(asked: string, key: string | null): ModelTurn {
    this.close();
    this.redoable = [];
    const turn = { asked, reply: null, first: null, key };
    this.line.push(turn);
    return turn;
  }

  /** A new reply replaces the current one, unless the new one is cut and the current one is complete. */
  answer(turn: ModelTurn, reply: ModelReply): void {
    const standing = turn.reply;
    if (isWhole(reply)) turn.first ??= reply;
    const stays = standing !== null && isWhole(standing) && !isWhole(reply);
    const former = stays ? reply : standing;
    if (former !== null) this.alternatives.push({ of: turn.asked, reply: former });
    if (!stays) turn.reply = reply;
  }

  /** A message without a reply gets an empty one when its session continues. */
  close(except: ModelTurn | null = null): void {
    const last = this.line.at(-1);
    if (last !== undefined && last !== except && last.reply === null)
      last.reply = { content: '', finish: 'interrupted' };
  }

  undo(): ModelTurn | undefined {
    this.close();
    const turn = this.line.pop();
    if (turn === undefined) return undefined;
    this.redoable.push(turn);
    this.undone.push(turn);
    return turn;
  }

  redo(): ModelTurn | undefined {
    const turn = this.redoable.pop();
    if (turn === undefined) return undefined;
    this.undone = this.undone.filter((other) => other !== turn);
    this.line.push(turn);
    return turn;
  }
}

export function textOf({ content, finish }: ModelReply): string {
  return `${finish}: ${content}`;
}

function textsOf({ asked, reply }: ModelTurn): readonly string[] {
  return reply === null ? [asked] : [asked, textOf(reply)];
}
