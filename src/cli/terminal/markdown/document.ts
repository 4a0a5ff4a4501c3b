// Converts filtered Markdown, as it arrives, into lines of a terminal. Each line is read once: its start decides which blocks it continues,
// closes and opens, and its text goes to the open leaf. Only the undecided end of that leaf is kept in memory.
import type { Measure } from '../table.ts';
import type { LeafStart, LineStart } from './blocks.ts';
import { Frame } from './frame.ts';
import type { Highlighting } from './highlighting.ts';
import { InlineText } from './inline-text.ts';
import { CodeLeaf, HeadingLeaf, HeadLeaf, HtmlLeaf, type Leaf, ParagraphLeaf } from './leaf.ts';
import { readLineStart } from './line-start.ts';
import { LineWriter } from './line-writer.ts';
import { TableBlock } from './table-block.ts';
import { alignmentsOf } from './table-rows.ts';
import { type Theme, withSgr } from './theme.ts';

interface DocumentOptions {
  readonly columns: () => number;
  readonly theme: Theme;
  readonly measure: Measure;
  /** Returns null until the module is loaded, and on a terminal without colour. */
  readonly highlighting: () => Highlighting | null;
}

/** If this many characters do not decide the kind of a line, the line is treated as text. */
const maxUndecidedCharacters = 1000;
const flowing: ReadonlySet<LeafStart['kind']> = new Set([
  'paragraph',
  'heading',
  'code',
  'indented-code',
  'html',
  'html-text',
]);

export class MarkdownDocument {
  readonly #options: DocumentOptions;
  readonly #frame: Frame;
  readonly #line: LineWriter;
  readonly #text: InlineText;
  #leaf: Leaf | null = null;
  /** The start of a line whose kind is not decided yet. */
  #beginning = '';
  #waitsForLine = false;
  /** True once the kind of the line is known: the rest of it is text of the leaf. */
  #flows = false;
  #isCut = false;
  /** The empty line (with the bars of quotes) that must precede the next block. Null for none. */
  #gap: string | null = null;

  constructor(options: DocumentOptions) {
    this.#options = options;
    this.#frame = new Frame(options.theme);
    this.#text = new InlineText(options.theme);
    this.#line = new LineWriter({
      columns: options.columns,
      measure: options.measure,
      prefix: (columns) => this.#frame.prefix(columns),
      onBegin: () => this.#frame.markShown(),
      cutsAddresses: false,
    });
  }

  /** The number of rows of the open table, which may be held back. Null if there is none. */
  get tableRows(): number | null {
    return this.#leaf instanceof TableBlock ? this.#leaf.rowCount : null;
  }

  /** Returns what can be written now. */
  push(text: string): string {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at);
      const chunk = text.slice(at, end < 0 ? text.length : end);
      if (this.#flows) {
        if (chunk !== '') this.#leaf?.flow(chunk, this.#isCut);
        if (end >= 0) this.#endLine();
      } else this.#begin(chunk, end >= 0);
      at = end < 0 ? text.length : end + 1;
    }
    return this.#line.take();
  }

  /** Ends the text in any state. Returns the rest of the output. */
  end(): string {
    if (this.#flows) this.#endLine();
    else if (this.#beginning !== '') this.#begin('', true);
    this.#closeLeaf();
    this.#closeContainers(0);
    this.#gap = null;
    return this.#line.take();
  }

  #begin(chunk: string, complete: boolean): void {
    this.#beginning += chunk;
    const beginning = this.#beginning;
    const isLong = beginning.length > maxUndecidedCharacters;
    if (this.#waitsForLine && !complete && !isLong) return;
    // The cut position does not depend on how the line was split, and never lies inside a surrogate pair.
    const inside = /[\ud800-\udbff]/.test(beginning[maxUndecidedCharacters - 1] ?? '');
    const cut = isLong ? maxUndecidedCharacters - (inside ? 1 : 0) : beginning.length;
    const start = this.#read(beginning.slice(0, cut), complete || isLong, isLong);
    if (typeof start === 'string') {
      this.#waitsForLine = start === 'line';
      return;
    }
    this.#beginning = '';
    this.#waitsForLine = false;
    this.#flows = true;
    this.#isCut = isLong;
    this.#start(start);
    if (isLong) this.#leaf?.flow(beginning.slice(cut), true);
    if (complete) this.#endLine();
  }

  #read(beginning: string, complete: boolean, isLong: boolean): ReturnType<typeof readLineStart> {
    const state = {
      containers: this.#frame.containers,
      leaf: this.#leaf?.open ?? ({ kind: 'none' } as const),
      wholeCodeLines: this.#leaf instanceof CodeLeaf && this.#leaf.needsWholeLines,
    };
    if (isLong) {
      // An incomplete line is tried first, so that the decision is the same as before the rest arrived.
      const early = readLineStart(beginning, false, state);
      if (typeof early !== 'string') return early;
    }
    const start = readLineStart(beginning, complete, state);
    if (!isLong || typeof start === 'string' || flowing.has(start.leaf.kind)) return start;
    return { ...start, leaf: { kind: 'paragraph', text: 'text' in start.leaf ? start.leaf.text : '' } };
  }

  #start({ matched, opened, leaf }: LineStart): void {
    const open = this.#leaf?.open.kind;
    const continues =
      leaf.kind === 'paragraph' && opened.length === 0 && (open === 'paragraph' || open === 'head');
    if (!continues && (matched < this.#frame.depth || opened.length > 0)) {
      this.#closeLeaf();
      this.#closeContainers(matched);
      for (const container of opened) this.#frame.open(container);
    }
    this.#startLeaf(leaf, opened.length > 0);
  }

  #closeContainers(depth: number): void {
    // The mark of an item without text must still be shown.
    if (this.#frame.hasUnshownItem(depth)) this.#beginBlock().emptyLine();
    this.#frame.close(depth);
  }

  #startLeaf(leaf: LeafStart, isOpening: boolean): void {
    const line = this.#line;
    const { codes } = this.#options.theme.frame;
    switch (leaf.kind) {
      case 'blank':
        this.#blank(isOpening);
        return;
      case 'paragraph':
        this.#paragraph(leaf.text);
        return;
      case 'heading':
        this.#heading(leaf.level, leaf.text);
        return;
      case 'underline':
        this.#closeLeaf();
        line.line(withSgr(leaf.text.slice(0, line.width()), codes));
        return;
      case 'rule':
        this.#closeLeaf();
        this.#beginBlock().line(withSgr('─'.repeat(line.width()), codes));
        return;
      case 'fence':
        this.#fence(leaf);
        return;
      case 'fence-end':
        this.#closeLeaf();
        line.line(withSgr(leaf.text, codes));
        return;
      case 'indented-code':
        this.#indentedCode(leaf.text);
        return;
      case 'code':
      case 'html-text':
      case 'row':
        this.#leaf?.flow(leaf.text, this.#isCut);
        return;
      case 'html':
        this.#closeLeaf();
        this.#beginBlock();
        this.#leaf = new HtmlLeaf(this.#textOptions, leaf.end);
        this.#leaf.flow(leaf.text, this.#isCut);
        return;
      case 'head':
        this.#closeLeaf();
        this.#beginBlock();
        this.#leaf = new HeadLeaf(leaf, this.#textOptions);
        return;
      case 'table-rule':
        this.#table(leaf.text);
        return;
    }
  }

  #blank(isOpening: boolean): void {
    this.#closeLeaf();
    if (isOpening) return;
    if (this.#frame.hasUnshownItem(0)) this.#beginBlock().emptyLine();
    this.#gap = this.#frame.blankLine;
  }

  #paragraph(text: string): void {
    if (this.#leaf instanceof HeadLeaf) this.#leaf = this.#leaf.asParagraph();
    if (!(this.#leaf instanceof ParagraphLeaf)) {
      this.#closeLeaf();
      this.#beginBlock();
      this.#leaf = new ParagraphLeaf(this.#textOptions);
    }
    this.#leaf.flow(text, this.#isCut);
  }

  #heading(level: number, text: string): void {
    this.#closeLeaf();
    this.#beginBlock();
    const { headings, strong } = this.#options.theme;
    this.#leaf = new HeadingLeaf(this.#textOptions, headings[level - 1] ?? strong);
    this.#leaf.flow(text, this.#isCut);
  }

  #fence(fence: Extract<LeafStart, { kind: 'fence' }>): void {
    this.#closeLeaf();
    this.#beginBlock().line(withSgr(fence.text, this.#options.theme.frame.codes));
    const painter = this.#options.highlighting()?.painter(fence.info) ?? null;
    this.#leaf = new CodeLeaf(this.#line, fence, painter);
  }

  #indentedCode(text: string): void {
    if (!(this.#leaf instanceof CodeLeaf)) {
      this.#closeLeaf();
      this.#beginBlock();
      this.#leaf = new CodeLeaf(this.#line, { kind: 'none' }, null);
    }
    this.#leaf.flow(text, this.#isCut);
  }

  #table(rule: string): void {
    const head = this.#leaf instanceof HeadLeaf ? this.#leaf.row : null;
    if (head === null) this.#closeLeaf();
    const { measure } = this.#options;
    this.#leaf = new TableBlock(head, alignmentsOf(rule) ?? [], { ...this.#textOptions, measure });
  }

  #endLine(): void {
    this.#flows = false;
    this.#isCut = false;
    this.#leaf?.endLine();
    const leaf = this.#leaf;
    if (leaf instanceof HeadingLeaf || (leaf instanceof HtmlLeaf && leaf.ended)) this.#closeLeaf();
  }

  /** Writes the empty line if one is due, and returns the writer for the new block. */
  #beginBlock(): LineWriter {
    if (this.#gap !== null) this.#line.blank(this.#gap);
    this.#gap = null;
    return this.#line;
  }

  #closeLeaf(): void {
    this.#leaf?.close();
    this.#leaf = null;
  }

  get #textOptions() {
    return { line: this.#line, text: this.#text, theme: this.#options.theme };
  }
}
