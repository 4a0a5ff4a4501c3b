// The types that describe the start of a line: the containers that it continues, those that it opens, and the kind of its leaf block.

export type Container = QuoteContainer | ItemContainer;

interface QuoteContainer {
  readonly kind: 'quote';
}

export interface ItemContainer {
  readonly kind: 'item';
  /** The indentation of the item's content, in columns from the start of the parent container. */
  readonly indent: number;
  /** `-`, `+`, `*`, `.` or `)`. All items of one list have the same. */
  readonly mark: string;
  /** Null for a bullet. */
  readonly number: number | null;
  /** Null if the item is not a task. */
  readonly done: boolean | null;
}

/** The open leaf block, as far as the reader of the next line needs it. */
export type OpenLeaf =
  | { readonly kind: 'none' }
  /** `cells` returns the number of cells of its last line, which is the head of a table if a delimiter row follows. */
  | { readonly kind: 'paragraph'; readonly cells: () => number }
  /** A line that is the head of a table if a delimiter row follows. */
  | { readonly kind: 'head'; readonly cells: number }
  | { readonly kind: 'table' }
  | { readonly kind: 'fence'; readonly mark: string; readonly length: number; readonly indent: number }
  | { readonly kind: 'html'; readonly end: RegExp | null };

/** The kind of a line after its containers. `text` is the part of the line that has arrived. */
export type LeafStart =
  | { readonly kind: 'blank' }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'underline'; readonly text: string }
  | { readonly kind: 'rule' }
  | {
      readonly kind: 'fence';
      readonly mark: string;
      readonly length: number;
      readonly indent: number;
      readonly info: string;
      readonly text: string;
    }
  | { readonly kind: 'fence-end'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'indented-code'; readonly text: string }
  | { readonly kind: 'html'; readonly end: RegExp | null; readonly text: string }
  | { readonly kind: 'html-text'; readonly text: string }
  | { readonly kind: 'head'; readonly cells: number; readonly text: string }
  | { readonly kind: 'table-rule'; readonly text: string }
  | { readonly kind: 'row'; readonly text: string };

export interface LineStart {
  /** The number of open containers that the line continues. */
  readonly matched: number;
  readonly opened: readonly Container[];
  readonly leaf: LeafStart;
}

/** `more`: the next character may decide. `line`: only the end of the line decides. */
export type Undecided = 'more' | 'line';
