// A reply onto a terminal as Markdown: each piece goes through the terminal filter, then through the document, and what comes
// of it is written at once. Colour for code is loaded before the first fence is read.
import { setImmediate } from 'node:timers/promises';
import { type TextFilter, terminalFilter } from '../filter.ts';
import type { Output, UntrustedWriter } from '../output.ts';
import { MarkdownDocument } from './document.ts';
import type { Highlighting } from './highlighting.ts';
import { textWidth } from './text-width.ts';
import { themeOf } from './theme.ts';

/** A longer piece is rendered in parts, so that little waits to be written and no part takes long. */
const longestPart = 512;
/** The event loop turns after so much text: a reply of any length lets keys and signals through. */
const textBetweenTurns = 2048;
const nothing = Promise.resolve();

export class MarkdownWriter implements UntrustedWriter {
  readonly #output: Output;
  /** Once it fires, the rest of a piece is not rendered, and its write rejects with the reason. */
  readonly #signal: AbortSignal;
  readonly #filter: TextFilter = terminalFilter();
  readonly #document: MarkdownDocument;
  #highlighting: Highlighting | null = null;
  /** The last characters read, for a fence that comes in pieces. */
  #last = '';
  /** Set while a write waits inside; those behind it wait for it. */
  #busy: Promise<void> | null = null;
  #ended = false;
  #sinceTurn = 0;

  constructor(output: Output, signal: AbortSignal) {
    this.#output = output;
    this.#signal = signal;
    this.#document = new MarkdownDocument({
      columns: () => output.columns(),
      theme: themeOf(output.colour > 0),
      measure: textWidth,
      highlighting: () => this.#highlighting,
    });
  }

  write(text: string): Promise<void> {
    if (this.#busy === null && text.length <= longestPart && this.#sinceTurn < textBetweenTurns) {
      this.#sinceTurn += text.length;
      const filtered = this.#filter.push(text);
      if (!this.#needsHighlighting(filtered)) return this.#put(this.#document.push(filtered));
      return this.#inTurn(() => this.#putInColour(filtered));
    }
    return this.#inTurn(async () => {
      for (let at = 0; at < text.length; at += longestPart) {
        await this.#turnIfDue();
        const part = text.slice(at, at + longestPart);
        this.#sinceTurn += part.length;
        await this.#take(this.#filter.push(part));
      }
    });
  }

  end(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#ended) return;
      this.#ended = true;
      await this.#take(this.#filter.end());
      await this.#put(this.#document.end());
    });
  }

  async endLine(): Promise<void> {
    if (this.#ended) return;
    await this.end();
    await this.#output.write('\n');
  }

  async #turnIfDue(): Promise<void> {
    if (this.#sinceTurn < textBetweenTurns) return;
    await setImmediate();
    this.#sinceTurn = 0;
    this.#signal.throwIfAborted();
  }

  #put(text: string): Promise<void> {
    return text === '' ? nothing : this.#output.write(text);
  }

  #take(filtered: string): Promise<void> {
    return this.#needsHighlighting(filtered)
      ? this.#putInColour(filtered)
      : this.#put(this.#document.push(filtered));
  }

  async #putInColour(filtered: string): Promise<void> {
    const { highlighting } = await import('./highlighting.ts');
    this.#highlighting = highlighting;
    await this.#put(this.#document.push(filtered));
  }

  /** Asked once for each piece, in their order. */
  #needsHighlighting(filtered: string): boolean {
    if (this.#highlighting !== null || this.#output.colour === 0) return false;
    const seen = this.#last + filtered;
    this.#last = seen.slice(-2);
    return seen.includes('```') || seen.includes('~~~');
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const before = this.#busy;
    const turn = before === null ? task() : before.then(task);
    const ours = turn.then(
      () => {},
      () => {},
    );
    this.#busy = ours;
    void ours.then(() => {
      if (this.#busy === ours) this.#busy = null;
    });
    return turn;
  }
}
