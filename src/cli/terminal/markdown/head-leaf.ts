// The leaf of a line that may be the head of a table.
import type { OpenLeaf } from './blocks.ts';
import { type Leaf, ParagraphLeaf, type TextOptions } from './leaf.ts';

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
