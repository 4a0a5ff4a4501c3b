// The messages of a chat of Gemini CLI, from its lines. The user may take messages back (`$rewindTo`). `$set.messages` has the messages that the
// model gets from then on: fewer after a failure, copies with new ids if results of tools were shortened, or a summary and the newest messages.
import type { TreeNode } from '../branches.ts';
import type { ForeignMessage } from '../conversation.ts';
import { type ForeignFields, fieldsOf, textOf } from '../foreign-value.ts';

interface ChatNode extends TreeNode {
  /** The role and the text; null for a message without text. Copies have the same. */
  readonly spoken: string | null;
}

export class GeminiChat {
  readonly #messageOf: (message: ForeignFields) => ForeignMessage | null;
  readonly #nodes = new Map<string, ChatNode>();
  /** The ids of messages by those of their copies. */
  readonly #originals = new Map<string, string>();
  /** The ids of the current branch. */
  #current: string[] = [];

  constructor(messageOf: (message: ForeignFields) => ForeignMessage | null) {
    this.#messageOf = messageOf;
  }

  get nodes(): readonly TreeNode[] {
    return [...this.#nodes.values()];
  }

  /** The id of the last message of the current branch. */
  get last(): string | null {
    return this.#current.at(-1) ?? null;
  }

  /** Adds a message, or replaces the one with its id. */
  add(fields: ForeignFields): void {
    const node = this.#nodeOf(fields);
    if (node === null) return;
    const known = this.#nodes.get(node.id);
    if (known === undefined) this.#current.push(node.id);
    this.#nodes.set(node.id, { ...node, parent: known === undefined ? node.parent : known.parent });
  }

  /** Takes the message with this id and those after it back. */
  rewindTo(id: string): void {
    this.#current.length = Math.max(0, this.#current.lastIndexOf(this.#originals.get(id) ?? id));
  }

  /** Applies `$set.messages`. */
  replace(list: readonly unknown[]): void {
    const nodes = list.flatMap((one) => this.#nodeOf(fieldsOf(one)) ?? []);
    const after = nodes.filter(isSpoken);
    const before = this.#firstSpoken(Math.max(1, after.length));
    if (before.length === 0) {
      for (const one of list) this.add(fieldsOf(one));
      return;
    }
    const isBeginning = after.every(
      ({ id, spoken }, at) => this.#nodes.has(id) && before[at]?.spoken === spoken,
    );
    // A summary replaces messages for the model, not for the user.
    if (!isBeginning) {
      this.#matchCopies(after);
      return;
    }
    const ids = new Set(nodes.map(({ id }) => id));
    const copies = new Set(after.filter(({ id }, at) => before[at]?.id !== id).map(({ id }) => id));
    if (copies.size === 0) this.#current.length = this.#current.findLastIndex((id) => ids.has(id)) + 1;
    else this.#current = this.#current.filter((id) => !ids.has(id));
    for (const id of copies) this.#nodes.delete(id);
  }

  /** Copies of the newest messages follow a summary. */
  #matchCopies(copies: readonly ChatNode[]): void {
    let last = this.#current.length - 1;
    for (const { id, spoken } of copies.toReversed()) {
      let at = last;
      while (at >= 0 && this.#nodes.get(this.#current[at] ?? '')?.spoken !== spoken) at -= 1;
      const original = this.#current[at];
      if (original === undefined) continue;
      this.#originals.set(id, original);
      last = at - 1;
    }
  }

  #firstSpoken(count: number): readonly ChatNode[] {
    const found: ChatNode[] = [];
    for (const id of this.#current) {
      const node = this.#nodes.get(id);
      if (node !== undefined && isSpoken(node)) found.push(node);
      if (found.length === count) break;
    }
    return found;
  }

  #nodeOf(fields: ForeignFields): ChatNode | null {
    const id = textOf(fields['id']);
    if (id === null) return null;
    const message = this.#messageOf(fields);
    const texts = message?.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])) ?? [];
    const text = texts.join('\n').trim();
    return { id, parent: this.last, message, spoken: text === '' ? null : `${message?.role} ${text}` };
  }
}

function isSpoken({ spoken }: ChatNode): boolean {
  return spoken !== null;
}
