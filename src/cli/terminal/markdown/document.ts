// A Markdown text as it comes, filtered, to lines of a terminal. Each line is read once: its beginning says which blocks it
// continues, ends and opens; its text goes on to the block that is open. Nothing of what was read is kept but that block's tail.
import type { LeafStart, LineStart } from './blocks.ts';
import { Frame } from './frame.ts';
import type { Highlighting } from './highlighting.ts';
import { InlineText } from './inline-text.ts';
import { CodeLeaf, HeadingLeaf, HtmlLeaf, type Leaf, ParagraphLeaf } from './leaf.ts';
import { readLineStart } from './line-start.ts';
import { LineWriter, type Measure } from './line-writer.ts';
import { HeadLeaf, TableLeaf } from './table-leaf.ts';
import { alignmentsOf } from './table-rows.ts';
import { painted, type Theme } from './theme.ts';

export interface DocumentOptions {
  readonly columns: () => number;
  readonly theme: Theme;
  readonly measure: Measure;
  /** Null until it is loaded, and where there is no colour. */
  readonly highlighting: () => Highlighting | null;
}

/** A beginning of a line that is still undecided here is text: lines so long are not what they seem. */
const longestBeginning = 1000;
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
  /** The beginning of a line that is not decided yet. */
  #beginning = '';
  #waitsForLine = false;
  /** The line's kind is known: the rest of it is text of the block. */
  #flows = false;
  #isCut = false;
  /** An empty line is due, with these bars of quotes. */
  #gap: string | null = null;

  constructor(options: DocumentOptions) {
    this.#options = options;
    this.#frame = new Frame(options.theme);
    this.#text = new InlineText(options.theme);
    this.#line = new LineWriter({
      columns: options.columns,
      measure: options.measure,
      prefix: (columns) => this.#frame.prefix(columns),
      begun: () => this.#frame.markShown(),
      cutsAddresses: false,
    });
  }

  /** What can be written, with this text come. */
  push(text: string): string {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at);
      const piece = text.slice(at, end < 0 ? text.length : end);
      if (this.#flows) {
        if (piece !== '') this.#leaf?.flow(piece, this.#isCut);
        if (end >= 0) this.#endLine();
      } else this.#begin(piece, end >= 0);
      at = end < 0 ? text.length : end + 1;
    }
    return this.#line.take();
  }

  /** The text ended, wherever it stands. */
  end(): string {
    if (this.#flows) this.#endLine();
    else if (this.#beginning !== '') this.#begin('', true);
    this.#closeLeaf();
    this.#closeContainers(0);
    this.#gap = null;
    return this.#line.take();
  }

  #begin(piece: string, complete: boolean): void {
    this.#beginning += piece;
    const beginning = this.#beginning;
    const isLong = beginning.length > longestBeginning;
    if (this.#waitsForLine && !complete && !isLong) return;
    // The cut is at one place in whatever pieces the line came, and never inside a character.
    const inside = /[\ud800-\udbff]/.test(beginning[longestBeginning - 1] ?? '');
    const cut = isLong ? longestBeginning - (inside ? 1 : 0) : beginning.length;
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
      // What a shorter part decides, the whole decides: asked first, for then it is the same as if the rest had not come.
      const early = readLineStart(beginning, false, state);
      if (typeof early !== 'string') return early;
    }
    const start = readLineStart(beginning, complete, state);
    if (!isLong || typeof start === 'string' || flowing.has(start.leaf.kind)) return start;
    return { ...start, leaf: { kind: 'paragraph', text: 'text' in start.leaf ? start.leaf.text : '' } };
  }

  #start({ matched, opened, leaf }: LineStart): void {
    const open = this.#leaf?.open.kind;
    const goesOn =
      leaf.kind === 'paragraph' && opened.length === 0 && (open === 'paragraph' || open === 'head');
    if (!goesOn && (matched < this.#frame.depth || opened.length > 0)) {
      this.#closeLeaf();
      this.#closeContainers(matched);
      for (const container of opened) this.#frame.open(container);
    }
    this.#startLeaf(leaf, opened.length > 0);
  }

  #closeContainers(depth: number): void {
    // An item without text still has its mark.
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
        line.line(painted(leaf.text.slice(0, line.width()), codes));
        return;
      case 'rule':
        this.#closeLeaf();
        this.#beginBlock().line(painted('─'.repeat(line.width()), codes));
        return;
      case 'fence': {
        this.#closeLeaf();
        this.#beginBlock().line(painted(leaf.text, codes));
        const painter = this.#options.highlighting()?.painter(leaf.info) ?? null;
        this.#leaf = new CodeLeaf(line, leaf, painter);
        return;
      }
      case 'fence-end':
        this.#closeLeaf();
        line.line(painted(leaf.text, codes));
        return;
      case 'indented-code':
        if (!(this.#leaf instanceof CodeLeaf)) {
          this.#closeLeaf();
          this.#beginBlock();
          this.#leaf = new CodeLeaf(line, { kind: 'none' }, null);
        }
        this.#leaf.flow(leaf.text, this.#isCut);
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
      case 'table-rule': {
        const head = this.#leaf instanceof HeadLeaf ? this.#leaf.row : null;
        if (head === null) this.#closeLeaf();
        this.#leaf = new TableLeaf(head, alignmentsOf(leaf.text) ?? [], {
          ...this.#textOptions,
          measure: this.#options.measure,
        });
        return;
      }
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

  #endLine(): void {
    this.#flows = false;
    this.#isCut = false;
    this.#leaf?.endLine();
    const leaf = this.#leaf;
    if (leaf instanceof HeadingLeaf || (leaf instanceof HtmlLeaf && leaf.ended)) this.#closeLeaf();
  }

  /** The line to write a new block to, behind the empty line that is due. */
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
