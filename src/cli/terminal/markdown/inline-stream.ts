// The text of an open paragraph as it comes. Words go out as soon as nothing to come can change them; a span that is still
// open holds back a line of the terminal at most, then what it begins with is decided. When that is, the text so far says alone,
// wherever the pieces of the stream end: so any cut of a text gives the same output.

import { type ForcedSpan, type OpenMark, scanDelimiterRuns } from './delimiter-runs.ts';
import { type InlineText, inlineMark } from './inline-text.ts';
import { cutPlace, mayBreakBetween } from './line-breaks.ts';
import type { LineWriter } from './line-writer.ts';
import { mostColumns } from './text-width.ts';
import { type Look, type Theme, within } from './theme.ts';

/** A line of an ordinary terminal: so far text may be held back for a span that is open, on a narrower one less far. */
const heldBack = 80;
/** A run without spaces is cut here, whatever it is, so that memory stays flat. No address is so long. */
const longestRun = 2048;
/** An address is no prose: it is waited for, and with it the text of its link, so that it can be followed. */
const addressBegun = /:\/\/|www\.|\]\(/i;
const deepestForced = 4;
const asciiRun = /^[!-~]*$/;

export interface InlineStreamOptions {
  readonly line: LineWriter;
  readonly text: InlineText;
  readonly theme: Theme;
  /** Nothing in it is a mark: HTML, shown as it is written. */
  readonly literal: boolean;
  /** The colour of all of it. */
  readonly codes: string;
}

export class InlineStream {
  readonly #options: InlineStreamOptions;
  /** What is not written yet, from the end of a word on. */
  #held = '';
  /** How much of it was searched for ends of words. */
  #searched = 0;
  #runStart = 0;
  /** So far the run was found to have no place for a cut. */
  #uncuttable = 0;
  #seenColumns = 0;
  #isAsciiWord = true;
  #hasAddress = false;
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

  /** The line of the source ended; whether the paragraph did, the next line tells. A backslash there waits for that. */
  endLine(): void {
    if (this.#held.endsWith('\\')) this.#lineEnds = true;
    else this.push('\n');
  }

  /** A backslash before the end of a line is a break, but in code; after another it is one itself. */
  #breaksHard(): boolean {
    const backslashes = /\\+$/.exec(this.#held)?.[0].length ?? 0;
    return backslashes % 2 === 1 && this.#scan(this.#held.slice(0, -1)).open.at(-1)?.mark !== '`';
  }

  /** The paragraph ended: what is open now stays open. */
  finish(): void {
    const { line } = this.#options;
    let rest = this.#held.trimEnd();
    this.#held = '';
    this.#searched = 0;
    this.#runStart = 0;
    this.#seeAgain(0);
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
      this.#see(this.#held, at, next);
      before = code;
      // A settled part shortens the held text, so every position moves back.
      at = next;
      if (end > 0) at -= this.#settle(end, at, columns);
      if (this.#runStart > 0 && this.#isOverfull(at, columns))
        at -= this.#settle(this.#runStart, at, columns);
      if (this.#runStart === 0 && this.#isOverfull(at, columns)) {
        const cut = cutPlace(this.#held.slice(0, at), this.#uncuttable);
        if (cut > 0) at -= this.#settle(cut, at, columns);
        else this.#uncuttable = at;
      }
    }
    this.#searched = this.#held.length;
  }

  /** Counts the character between two positions in, so that no question about the held text needs all of it again. */
  #see(text: string, at: number, next: number): void {
    this.#seenColumns += mostColumns(text.slice(at, next));
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f) this.#isAsciiWord = false;
    // An address shows by `://`, `www.` or `](`.
    if (code === 0x2f || code === 0x2e || code === 0x28)
      this.#hasAddress ||= addressBegun.test(text.slice(Math.max(this.#runStart, next - 4), next));
  }

  #mayEndAt(at: number, before: number, code: number): boolean {
    const length = at - this.#runStart;
    if (length <= 0) return false;
    return length >= longestRun || ((before > 0x7f || code > 0x7f) && mayBreakBetween(before, code));
  }

  /** More waits, with a run that has not ended yet, than one line holds. */
  #isOverfull(seen: number, columns: number): boolean {
    const { waiting } = this.#options.line;
    // No unit takes more than two columns.
    if ((seen + waiting) * 2 <= Math.min(heldBack, columns)) return false;
    const isWord = this.#runStart === 0 && this.#isAsciiWord;
    const most = isWord ? columns : Math.min(heldBack, columns);
    return this.#seenColumns + waiting > most && !this.#hasAddress;
  }

  /**
   * Writes what is settled of the text up to `end`, where a word ends or may be cut; `seen`: how far the text was searched. Gives how
   * much was written.
   */
  #settle(end: number, seen: number, columns: number): number {
    const before = this.#held.length;
    const most = Math.min(heldBack, columns) - mostColumns(this.#held.slice(end, seen));
    const rest = this.#held.slice(end);
    this.#held = this.#writeSettled(this.#held.slice(0, end), most) + rest;
    this.#options.line.neutral();
    const gone = before - this.#held.length;
    this.#runStart = end - gone;
    this.#uncuttable = 0;
    this.#seeAgain(seen - gone);
    return gone;
  }

  #seeAgain(seen: number): void {
    const held = this.#held.slice(0, seen);
    this.#seenColumns = mostColumns(held);
    this.#isAsciiWord = asciiRun.test(held);
    this.#hasAddress = addressBegun.test(held.slice(this.#runStart));
  }

  /** Gives what is not settled: so many columns of it at most. */
  #writeSettled(given: string, most: number): string {
    let text = given;
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
      const kept = this.#writeBefore(text, first.at);
      if (this.#fits(kept, most)) return kept;
      text = this.#decide(kept, open, text.length - kept.length, most);
    }
  }

  /** Words before an open mark go out; the word that it stands in stays whole. White space at least ends the word before it. */
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

  /** Beside what waits for the end of its word, behind the last mark that was decided. */
  #fits(text: string, most: number): boolean {
    // A unit takes a column or more, or is half of a pair that takes two.
    return text.length <= 2 * most && mostColumns(text) + this.#options.line.waiting <= most;
  }

  /** Of the marks that have been open for too long: the first that may well begin a span begins it, others are characters. */
  #decide(given: string, open: readonly OpenMark[], gone: number, most: number): string {
    let written = 0;
    for (const mark of open) {
      const at = mark.at - gone;
      if (at < written) continue;
      if (written > 0 && this.#fits(given.slice(written), most)) break;
      this.#write(given.slice(written, at));
      written = at + mark.length;
      if (mark.likely && this.#forced.length < deepestForced) {
        this.#force(mark);
        break;
      }
      this.#options.line.put(given.slice(at, written), this.#codes);
    }
    return given.slice(written);
  }

  #force({ mark, length }: OpenMark): void {
    const { theme } = this.#options;
    const begin = (of: ForcedSpan['mark'], run: number, look: Look) => {
      this.#forced.push({ span: { mark: of, length: run }, codes: within(this.#codes, look.codes), look });
      this.#options.line.put(look.open, this.#codes);
    };
    if (mark === '`') begin('`', length, theme.code);
    else if (mark === '~') begin('~', length, theme.deleted);
    else {
      const of = mark === '_' ? '_' : '*';
      if (length === 3) begin(of, 1, theme.emphasis);
      begin(of, 2, theme.strong);
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
