// The open leaf block. It receives the text of its lines in order, in chunks of any length.
import type { OpenLeaf } from './blocks.ts';
import type { CodePainter } from './highlighting.ts';
import { InlineStream, type InlineStreamOptions } from './inline-stream.ts';
import type { LineWriter } from './line-writer.ts';
import type { Look } from './theme.ts';

export interface Leaf {
  /** The facts that the reader of the next line needs. */
  readonly open: OpenLeaf;
  /** Takes more text of the line. `cut` is true if the line is too long to wait for its end. */
  flow(text: string, cut: boolean): void;
  endLine(): void;
  close(): void;
}

export type TextOptions = Omit<InlineStreamOptions, 'literal' | 'codes'>;

export class ParagraphLeaf implements Leaf {
  readonly open: OpenLeaf = { kind: 'paragraph', cells: () => (this.#pipes === 0 ? 0 : this.#pipes + 1) };
  readonly #stream: InlineStream;
  /** The number of pipes in the last line, which may turn out to be the head of a table. */
  #pipes = 0;
  #isNewLine = true;

  constructor(options: TextOptions) {
    this.#stream = new InlineStream({ ...options, literal: false, codes: '' });
  }

  flow(text: string): void {
    if (this.#isNewLine) this.#pipes = 0;
    this.#isNewLine = false;
    for (let at = text.indexOf('|'); at >= 0; at = text.indexOf('|', at + 1)) this.#pipes += 1;
    this.#stream.push(text);
  }

  endLine(): void {
    this.#isNewLine = true;
    this.#stream.endLine();
  }

  close(): void {
    this.#stream.finish();
  }
}

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

const maxHeadingEndCharacters = 1000;

/** A heading. It is one line and closes at its end. */
export class HeadingLeaf implements Leaf {
  readonly open: OpenLeaf = { kind: 'none' };
  readonly #line: LineWriter;
  readonly #look: Look;
  readonly #stream: InlineStream;
  #held = '';
  #begun = false;

  constructor(options: TextOptions, look: Look) {
    this.#line = options.line;
    this.#look = look;
    this.#stream = new InlineStream({ ...options, literal: false, codes: look.codes });
    this.#line.put(look.open, look.codes);
  }

  flow(text: string): void {
    const waiting = this.#held + text;
    const end = closingMarksStart(waiting, this.#begun);
    const isEnd = waiting.length - end <= maxHeadingEndCharacters;
    this.#held = isEnd ? waiting.slice(end) : '';
    this.#push(isEnd ? waiting.slice(0, end) : waiting);
  }

  endLine(): void {
    this.#push(this.#held.trimEnd().replace(this.#begun ? /[ \t]+#+$/ : /(?:^|[ \t]+)#+$/, ''));
    this.#held = '';
    // In a theme with marks the line already shows them.
    if (!this.#begun && this.#look.open === '') this.#line.emptyLine();
  }

  close(): void {
    this.#stream.finish();
  }

  #push(text: string): void {
    if (text.trim() !== '') this.#begun = true;
    this.#stream.push(text);
  }
}

/** The start of the closing `#` marks of a heading and the space around them. The length of the text if there are none. */
function closingMarksStart(text: string, isBegun: boolean): number {
  const space = startOfRun(text, text.length, ' \t');
  const marks = startOfRun(text, space, '#');
  const before = startOfRun(text, marks, ' \t');
  return before < marks || (marks === 0 && !isBegun) ? before : space;
}

/** The start of the run of these characters that ends at `end`. A regular expression would take quadratic time. */
function startOfRun(text: string, end: number, characters: string): number {
  let start = end;
  while (start > 0 && characters.includes(text[start - 1] ?? '')) start -= 1;
  return start;
}

/** A block of HTML. It is shown as it is, except for runs of white space. */
export class HtmlLeaf implements Leaf {
  readonly open: OpenLeaf;
  readonly #end: RegExp | null;
  readonly #stream: InlineStream;
  /** The last characters, because the end tag may be split over chunks. */
  #last = '';
  ended = false;

  constructor(options: TextOptions, end: RegExp | null) {
    this.open = { kind: 'html', end };
    this.#end = end;
    this.#stream = new InlineStream({ ...options, literal: true, codes: '' });
  }

  flow(text: string): void {
    const seen = this.#last + text;
    if (this.#end?.test(seen)) this.ended = true;
    this.#last = seen.slice(-16);
    this.#stream.push(text);
  }

  endLine(): void {
    this.#stream.endLine();
  }

  close(): void {
    this.#stream.finish();
  }
}

/** A fenced or indented block of code. Lines are never wrapped, and are coloured if the language is known. */
export class CodeLeaf implements Leaf {
  readonly open: OpenLeaf;
  readonly #line: LineWriter;
  readonly #painter: CodePainter | null;
  readonly #indent: string;
  #text = '';
  #begun = false;
  /** True until the line of the opening fence has ended. */
  #isBeforeCode: boolean;

  constructor(line: LineWriter, open: OpenLeaf, painter: CodePainter | null) {
    this.#line = line;
    this.open = open;
    this.#painter = painter;
    this.#isBeforeCode = open.kind === 'fence';
    this.#indent = open.kind === 'fence' ? '' : '    ';
  }

  get needsWholeLines(): boolean {
    return this.#painter !== null;
  }

  flow(text: string, cut: boolean): void {
    if (this.#painter !== null && !cut) {
      this.#text += text;
      return;
    }
    if (!this.#begun) this.#line.append(this.#indent);
    this.#begun = true;
    this.#line.append(text);
  }

  endLine(): void {
    if (this.#isBeforeCode) {
      this.#isBeforeCode = false;
      return;
    }
    if (!this.#begun && this.#painter === null) this.#line.emptyLine();
    if (!this.#begun && this.#painter !== null) this.#line.append(this.#painter.line(this.#text));
    this.#text = '';
    this.#begun = false;
    this.#line.endLine();
  }

  close(): void {
    this.#line.endLine();
  }
}
