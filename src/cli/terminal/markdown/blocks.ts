// The blocks of Markdown as far as the beginning of a line tells of them: what a line continues, what it opens, what it is.

export type Container = QuoteContainer | ItemContainer;

export interface QuoteContainer {
  readonly kind: 'quote';
}

export interface ItemContainer {
  readonly kind: 'item';
  /** How far what belongs to it is indented, from where its container begins. */
  readonly indent: number;
  /** `-`, `+`, `*`, `.` or `)`: items of one list have the same. */
  readonly mark: string;
  /** Null for a bullet. */
  readonly number: number | null;
  /** Null if it is no task. */
  readonly done: boolean | null;
}

/** The block of text that is open, as the next line needs to know it. */
export type OpenLeaf =
  | { readonly kind: 'none' }
  /** `cells`: of its last line, if a row of a table's rule may follow. */
  | { readonly kind: 'paragraph'; readonly cells: () => number }
  /** A line that is the head of a table if its rule follows. */
  | { readonly kind: 'head'; readonly cells: number }
  | { readonly kind: 'table' }
  | { readonly kind: 'fence'; readonly mark: string; readonly length: number; readonly indent: number }
  | { readonly kind: 'html'; readonly end: RegExp | null };

/** What a line is behind its containers. `text`: of it, so far. */
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
  /** How many of the open containers it continues. */
  readonly matched: number;
  readonly opened: readonly Container[];
  readonly leaf: LeafStart;
}

/** `more`: another character may tell. `line`: only its end will. */
export type Undecided = 'more' | 'line';
