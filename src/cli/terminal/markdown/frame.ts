// Builds the prefix of each line: the bars of quotes, the marks of list items, and the indentation below a mark.
import type { Container, ItemContainer } from './blocks.ts';
import type { LinePrefix } from './line-writer.ts';
import { type Theme, withSgr } from './theme.ts';

interface OpenContainer {
  readonly container: Container;
  readonly mark: string;
  shown: boolean;
}

export class Frame {
  readonly #theme: Theme;
  readonly #open: OpenContainer[] = [];
  /** The item that was closed last. The next item at its depth may continue its numbers. */
  #sibling: { readonly depth: number; readonly mark: string; readonly number: number | null } | null = null;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  get containers(): readonly Container[] {
    return this.#open.map(({ container }) => container);
  }

  get depth(): number {
    return this.#open.length;
  }

  /** Closes all containers from this depth inwards. */
  close(depth: number): void {
    const first = this.#open[depth];
    this.#sibling = null;
    if (first === undefined) return;
    if (first.container.kind === 'item') {
      this.#sibling = { depth, mark: first.container.mark, number: first.container.number };
    }
    this.#open.length = depth;
  }

  open(container: Container): void {
    const sibling = this.#sibling;
    this.#sibling = null;
    if (container.kind === 'quote') {
      this.#open.push({ container, mark: '', shown: true });
      return;
    }
    const follows =
      sibling !== null && sibling.depth === this.#open.length && sibling.mark === container.mark;
    const number = follows && sibling.number !== null ? sibling.number + 1 : container.number;
    const numbered = { ...container, number };
    this.#open.push({ container: numbered, mark: itemMark(numbered), shown: false });
  }

  /** True if an item at this depth or deeper has not shown its mark yet. */
  hasUnshownItem(depth: number): boolean {
    return this.#open.some(({ shown }, at) => at >= depth && !shown);
  }

  /** The prefix of the next line. Only the first line of an item has a mark. A narrow terminal drops the outermost parts. */
  prefix(columns: number): LinePrefix {
    const { codes } = this.#theme.frame;
    const parts = this.#open.map((one) => {
      if (one.container.kind === 'quote') return { text: `${withSgr('│', codes)} `, width: 2 };
      const width = one.mark.length + 1;
      if (one.shown) return { text: ' '.repeat(width), width };
      return { text: `${withSgr(one.mark, codes)} `, width };
    });
    let width = parts.reduce((sum, part) => sum + part.width, 0);
    let from = 0;
    while (width > columns / 2 && from < parts.length - 1) {
      width -= parts[from]?.width ?? 0;
      from += 1;
    }
    return {
      text: parts
        .slice(from)
        .map(({ text }) => text)
        .join(''),
      width,
    };
  }

  /** Records that the line with the current prefix was written. */
  markShown(): void {
    for (const one of this.#open) one.shown = true;
  }

  /** The prefix of an empty line: the bars alone. */
  get blankLine(): string {
    const parts = this.#open.map((one) =>
      one.container.kind === 'quote' ? '│ ' : ' '.repeat(one.mark.length + 1),
    );
    return withSgr(parts.join('').trimEnd(), this.#theme.frame.codes);
  }
}

function itemMark({ number, mark, done }: ItemContainer): string {
  const task = done === null ? '' : ` [${done ? 'x' : ' '}]`;
  return number === null ? `•${task}` : `${number}${mark}${task}`;
}
