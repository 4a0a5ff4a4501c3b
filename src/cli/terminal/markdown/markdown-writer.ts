// Writes a reply to a terminal as Markdown. Each chunk passes the terminal filter and the document, and the result is written at
// once. The highlighter is loaded before the first fence is read.

import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import { counted } from '../../counted.ts';
import { type TextFilter, terminalFilter } from '../filter.ts';
import type { Output, UntrustedWriter } from '../output.ts';
import { TerminalText } from '../terminal-text.ts';
import { textWidth } from '../text-width.ts';
import { MarkdownDocument } from './document.ts';
import type { Highlighting } from './highlighting.ts';
import { themeOf } from './theme.ts';

/** A longer chunk is rendered in parts, so that no part takes long and not much output waits to be written. */
const maxPartLength = 512;
/** The writer yields to the event loop after this much text, so that keys and signals are handled during a reply of any length. */
const textBetweenYields = 4096;
/** It also yields after this much time, because some texts take a hundred times as long as others to render. */
const msBetweenYields = 8;
/** The amount of text between two readings of the clock. A reading takes as long as rendering a usual token. */
const textBetweenClockReadings = 64;
const nothing = Promise.resolve();

export class MarkdownWriter implements UntrustedWriter {
  readonly #output: Output;
  /** When it fires, the rest of a chunk is not rendered, and its write rejects with the reason. */
  readonly #signal: AbortSignal;
  readonly #filter: TextFilter = terminalFilter();
  readonly #document: MarkdownDocument;
  #highlighting: Highlighting | null = null;
  /** The last characters, because a fence may be split over chunks. */
  #last = '';
  /** The write that is running. Later writes wait for it. */
  #busy: Promise<void> | null = null;
  #ended = false;
  #textSinceYield = 0;
  #yieldedAt = monotonicMs();
  #textSinceClockReading = 0;
  /** True if the last reading of the clock was too long after the last yield. */
  #isLate = false;

  constructor(output: Output, signal: AbortSignal) {
    this.#output = output;
    this.#signal = signal;
    this.#document = new MarkdownDocument({
      columns: () => output.columns(),
      theme: themeOf(output),
      measure: textWidth,
      highlighting: () => this.#highlighting,
    });
  }

  write(text: string): Promise<void> {
    if (this.#busy === null && text.length <= maxPartLength && !this.#isYieldDue) {
      this.#textSinceYield += text.length;
      const filtered = this.#filter.push(text);
      if (!this.#needsHighlighting(filtered)) return this.#put(this.#render(filtered));
      return this.#enqueue(() => this.#putHighlighted(filtered));
    }
    return this.#enqueue(async () => {
      for (let at = 0; at < text.length; at += maxPartLength) {
        await this.#yieldIfDue();
        const part = text.slice(at, at + maxPartLength);
        this.#textSinceYield += part.length;
        await this.#take(this.#filter.push(part));
      }
    });
  }

  end(): Promise<void> {
    return this.#enqueue(async () => {
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

  describeHeldText(): string | null {
    const rows = this.#document.tableRows;
    return rows === null ? null : `table, ${counted(rows, 'row')}`;
  }

  get #isYieldDue(): boolean {
    return this.#textSinceYield >= textBetweenYields || this.#isLate;
  }

  async #yieldIfDue(): Promise<void> {
    if (!this.#isYieldDue) return;
    await yieldToEventLoop();
    this.#textSinceYield = 0;
    this.#yieldedAt = monotonicMs();
    this.#isLate = false;
    this.#signal.throwIfAborted();
  }

  #render(filtered: string): string {
    const rendered = this.#document.push(filtered);
    this.#textSinceClockReading += filtered.length;
    if (this.#textSinceClockReading >= textBetweenClockReadings) {
      this.#textSinceClockReading = 0;
      this.#isLate = monotonicMs() - this.#yieldedAt >= msBetweenYields;
    }
    return rendered;
  }

  #put(text: string): Promise<void> {
    return text === '' ? nothing : this.#output.write(new TerminalText(text));
  }

  #take(filtered: string): Promise<void> {
    return this.#needsHighlighting(filtered)
      ? this.#putHighlighted(filtered)
      : this.#put(this.#render(filtered));
  }

  async #putHighlighted(filtered: string): Promise<void> {
    const { highlighting } = await import('./highlighting.ts');
    this.#highlighting = highlighting;
    await this.#put(this.#render(filtered));
  }

  /** Must be called once for each chunk, in order. */
  #needsHighlighting(filtered: string): boolean {
    if (this.#highlighting !== null || this.#output.colour === 0) return false;
    const seen = this.#last + filtered;
    this.#last = seen.slice(-2);
    return seen.includes('```') || seen.includes('~~~');
  }

  async #enqueue(task: () => Promise<void>): Promise<void> {
    const before = this.#busy;
    let leave = () => {};
    const ours = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#busy = ours;
    try {
      await before;
      await task();
    } finally {
      // The writer must be free before the caller continues, or each later write would take the slow path.
      if (this.#busy === ours) this.#busy = null;
      leave();
    }
  }
}
