// The leaves of a table: a line that may be its head, and its rows.
import type { OpenLeaf } from './blocks.ts';
import { type Leaf, ParagraphLeaf, type TextOptions } from './leaf.ts';
import { TableBlock, type TableOptions } from './table-block.ts';
import type { Alignment } from './table-rows.ts';

/** A line that is held back until the next line decides whether it is the head of a table or text. */
export class HeadLeaf implements Leaf {
  readonly open: OpenLeaf;
  readonly row: string;
  readonly #options: TextOptions;

  constructor(head: { readonly text: string; readonly cells: number }, options: TextOptions) {
    this.open = { kind: 'head', cells: head.cells };
    this.row = head.text;
    this.#options = options;
  }

  asParagraph(): ParagraphLeaf {
    const paragraph = new ParagraphLeaf(this.#options);
    paragraph.flow(this.row);
    paragraph.endLine();
    return paragraph;
  }

  flow(): void {}

  endLine(): void {}

  close(): void {
    this.asParagraph().close();
  }
}

export class TableLeaf implements Leaf {
  readonly open: OpenLeaf = { kind: 'table' };
  readonly #table: TableBlock;

  constructor(head: string | null, alignments: readonly Alignment[], options: TableOptions) {
    this.#table = new TableBlock(head, alignments, options);
  }

  flow(row: string): void {
    this.#table.add(row);
  }

  endLine(): void {}

  close(): void {
    this.#table.close();
  }
}
