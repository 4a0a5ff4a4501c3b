// Writes the text of an open paragraph as it arrives. A word is written as soon as no later text can change it. An open span holds back one
// line of the terminal at most. After that, the meaning of its first mark is decided. The decisions depend only on the text so far, not on
// the ends of the chunks, so every way of splitting a text gives the same output.

import { maxColumns } from '../text-width.ts';
import { type ForcedSpan, type OpenMark, scanDelimiterRuns } from './delimiter-runs.ts';
import { type InlineText, inlineMark } from './inline-text.ts';
import { cutPosition, mayBreakBetween } from './line-breaks.ts';
import type { LineWriter } from './line-writer.ts';
import { type Look, type Theme, within } from './theme.ts';

/** The most columns that an open span holds back. On a narrower terminal this is one line. */
const maxHeldColumns = 80;
/** A run without spaces is cut after this many characters, to limit the memory. Addresses are shorter. */
const maxRunCharacters = 2048;
/** An address is held back until it is complete, with the text of its link, so that a terminal can follow it. */
const addressBeginning = /:\/\/|www\.|\]\(/i;
const maxForcedDepth = 4;
const asciiRun = /^[!-~]*$/;
const notMeasured = { end: 0, columns: 0, isAsciiWord: true, hasAddress: false };

export interface InlineStreamOptions {
  readonly line: LineWriter;
  readonly text: InlineText;
  readonly theme: Theme;
  /** True for HTML: no character is a mark, and the text is shown as it is. */
  readonly literal: boolean;
  /** The SGR codes of the whole text. */
  readonly codes: string;
}

export class InlineStream {
  readonly #options: InlineStreamOptions;
  /** The text that is not written yet. It starts where a word starts. */
  #held = '';
  /** The number of units of the held text that were searched for ends of words. */
  #searched = 0;
  #runStart = 0;
  /** The run cannot be cut before this position. */
  #uncuttable = 0;
  #measured = notMeasured;
  #lineEnds = false;
  #forced: { readonly span: ForcedSpan; readonly codes: string; readonly look: Look }[] = [];

  constructor(options: InlineStreamOptions) {
    this.#options = options;
  }

  push(text: string): void {
    if (text === '') return;
    if (this.#lineEnds) {
      this.#lineEnds = false;
      if (this.#breaksHard()) this.#held = this.#held.slice(0, -1);
      this.#held += '\n';
    }
    this.#held += text;
    this.#search();
  }

  /** Ends a line of the source. A final backslash is held back until the next line shows whether the paragraph continues. */
  endLine(): void {
    if (this.#held.endsWith('\\')) this.#lineEnds = true;
    else this.push('\n');
  }

  /** A backslash before the end of a line is a hard break, except in code. Two backslashes are an escaped one. */
  #breaksHard(): boolean {
    const backslashes = /\\+$/.exec(this.#held)?.[0].length ?? 0;
    return backslashes % 2 === 1 && this.#scan(this.#held.slice(0, -1)).open.at(-1)?.mark !== '`';
  }

  /** Ends the paragraph. Marks that are still open are literal text. */
  finish(): void {
    const { line } = this.#options;
    let rest = this.#held.trimEnd();
    this.#held = '';
    this.#searched = 0;
    this.#runStart = 0;
    this.#measured = notMeasured;
    for (let scan = this.#scan(rest); scan.closed !== null; scan = this.#scan(rest)) {
      rest = this.#close(rest, scan.closed);
    }
    this.#write(rest);
    this.#forced = [];
    line.endLine();
  }

  #search(): void {
    const columns = this.#options.line.width();
    let before = this.#searched > 0 ? codePointBefore(this.#held, this.#searched) : 0;
    for (let at = this.#searched; at < this.#held.length; ) {
      const code = this.#held.codePointAt(at) ?? 0;
      const next = at + (code > 0xffff ? 2 : 1);
      const isSpace = code === 0x20 || code === 0x09 || code === 0x0a;
      const end = isSpace ? next : this.#mayEndAt(at, before, code) ? at : 0;
      before = code;
      // A settled part shortens the held text, so every position moves back.
      at = next;
      if (end > 0) at -= this.#settle(end, at, columns);
      if (this.#runStart > 0 && this.#isOverfull(at, columns))
        at -= this.#settle(this.#runStart, at, columns);
      if (this.#runStart === 0 && this.#isOverfull(at, columns)) {
        const cut = cutPosition(this.#held.slice(0, at), this.#uncuttable);
        if (cut > 0) at -= this.#settle(cut, at, columns);
        else this.#uncuttable = at;
      }
    }
    this.#searched = this.#held.length;
  }

  #mayEndAt(at: number, before: number, code: number): boolean {
    const length = at - this.#runStart;
    if (length <= 0) return false;
    return length >= maxRunCharacters || ((before > 0x7f || code > 0x7f) && mayBreakBetween(before, code));
  }

  /** True if the held text, including the run that has not ended, is wider than one line. */
  #isOverfull(seen: number, columns: number): boolean {
    const { waiting } = this.#options.line;
    // No unit takes more than two columns.
    if ((seen + waiting) * 2 <= Math.min(maxHeldColumns, columns)) return false;
    this.#measure(seen);
    const { columns: held, isAsciiWord, hasAddress } = this.#measured;
    const columnLimit = this.#runStart === 0 && isAsciiWord ? columns : Math.min(maxHeldColumns, columns);
    return held + waiting > columnLimit && !hasAddress;
  }

  /** Measures the held text up to a position. It reads only new text, because a long run is measured at each character. */
  #measure(to: number): void {
    const { end, columns, isAsciiWord, hasAddress } = this.#measured;
    const text = this.#held.slice(end, to);
    // The mark of an address may have begun in the part that was measured before.
    const searchedText = this.#held.slice(Math.max(this.#runStart, end - 3), to);
    this.#measured = {
      end: to,
      columns: columns + maxColumns(text),
      isAsciiWord: isAsciiWord && asciiRun.test(text),
      hasAddress: hasAddress || addressBeginning.test(searchedText),
    };
  }

  /**
   * Writes the settled part of the text before `end`, where a word ends or may be cut. The text was searched up to `seen`. Returns the number
   * of units that were written.
   */
  #settle(end: number, seen: number, columns: number): number {
    const before = this.#held.length;
    const columnLimit = Math.min(maxHeldColumns, columns) - maxColumns(this.#held.slice(end, seen));
    const rest = this.#held.slice(end);
    this.#held = this.#writeSettled(this.#held.slice(0, end), columnLimit) + rest;
    this.#options.line.neutral();
    const written = before - this.#held.length;
    this.#runStart = end - written;
    this.#uncuttable = 0;
    this.#measured = notMeasured;
    return written;
  }

  /** Returns the part that is not settled, at most `columnLimit` columns wide. */
  #writeSettled(held: string, columnLimit: number): string {
    let text = held;
    for (;;) {
      if (this.#forced.length === 0 && (this.#options.literal || !inlineMark.test(text))) {
        this.#write(text);
        this.#options.line.flush();
        return '';
      }
      const { open, closed } = this.#scan(text);
      if (closed !== null) {
        text = this.#close(text, closed);
        continue;
      }
      const [first] = open;
      if (first === undefined) {
        this.#write(text);
        this.#options.line.flush();
        return '';
      }
      const rest = this.#writeBefore(text, first.at);
      if (this.#fits(rest, columnLimit)) return rest;
      text = this.#decide(rest, open, text.length - rest.length, columnLimit);
    }
  }

  /** Writes the words before an open mark. The word that contains the mark stays whole. */
  #writeBefore(text: string, at: number): string {
    const start =
      Math.max(text.lastIndexOf(' ', at), text.lastIndexOf('\n', at), text.lastIndexOf('\t', at)) + 1;
    const end = this.#opensAcross(text.slice(0, start)) ? text.search(/\S/) : start;
    if (end <= 0) return text;
    this.#write(text.slice(0, end));
    this.#options.line.flush();
    return text.slice(end);
  }

  #opensAcross(text: string): boolean {
    const { open, closed } = this.#scan(text);
    return open.length > 0 || closed !== null;
  }

  /** True if the text fits beside the unfinished word of the line writer. */
  #fits(text: string, columnLimit: number): boolean {
    // Each unit takes at least one column, or is half of a pair that takes two.
    return text.length <= 2 * columnLimit && maxColumns(text) + this.#options.line.waiting <= columnLimit;
  }

  /** Decides marks that were open for too long: the first likely one starts a span, those before it are literal text. */
  #decide(text: string, open: readonly OpenMark[], removed: number, columnLimit: number): string {
    let written = 0;
    for (const mark of open) {
      const at = mark.at - removed;
      if (at < written) continue;
      if (written > 0 && this.#fits(text.slice(written), columnLimit)) break;
      this.#write(text.slice(written, at));
      written = at + mark.length;
      if (mark.isLikely && this.#forced.length < maxForcedDepth) {
        this.#force(mark);
        break;
      }
      this.#options.line.put(text.slice(at, written), this.#codes);
    }
    return text.slice(written);
  }

  #force({ mark, length }: OpenMark): void {
    const { theme } = this.#options;
    const begin = (spanMark: ForcedSpan['mark'], run: number, look: Look) => {
      this.#forced.push({
        span: { mark: spanMark, length: run },
        codes: within(this.#codes, look.codes),
        look,
      });
      this.#options.line.put(look.open, this.#codes);
    };
    if (mark === '`') begin('`', length, theme.code);
    else if (mark === '~') begin('~', length, theme.deleted);
    else {
      const spanMark = mark === '_' ? '_' : '*';
      if (length === 3) begin(spanMark, 1, theme.emphasis);
      begin(spanMark, 2, theme.strong);
    }
  }

  #scan(text: string): ReturnType<typeof scanDelimiterRuns> {
    return scanDelimiterRuns(
      text,
      this.#forced.map(({ span }) => span),
    );
  }

  #close(text: string, { index, at, length }: { index: number; at: number; length: number }): string {
    this.#write(text.slice(0, at));
    const look = this.#forced[index]?.look;
    if (look !== undefined) this.#options.line.put(look.close, this.#forced[index]?.codes ?? '');
    this.#forced.length = index;
    return text.slice(at + length);
  }

  #write(text: string): void {
    if (text === '') return;
    const { line, literal } = this.#options;
    if (literal) line.put(text, '');
    else if (this.#forced.at(-1)?.span.mark === '`') line.put(text.replaceAll('\n', ' '), this.#codes, true);
    else this.#options.text.write(text, this.#codes, line);
  }

  get #codes(): string {
    return this.#forced.at(-1)?.codes ?? this.#options.codes;
  }
}

function codePointBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && at > 1 ? (text.codePointAt(at - 2) ?? code) : code;
}
