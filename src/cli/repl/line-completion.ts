// Runs the completion of the edited line for Tab, and knows what it listed for that line already.
import type { LineReaderOptions } from './line-reader-options.ts';
import { type LineState, replaced } from './line-state.ts';
import { plain, unfolded } from './line-text.ts';

/**
 * `inserted`: the line has changed. `listed`: `list` is to be shown above the line. `nothing`: there is no other choice. `folded`: the
 * line cannot be completed.
 */
export interface CompletionEffect {
  readonly kind: 'inserted' | 'listed' | 'nothing' | 'folded';
  readonly state: LineState;
  readonly list: string;
}

export class LineCompletion {
  readonly #complete: LineReaderOptions['complete'];
  #running: AbortController | null = null;
  /** What Tab listed above the current line. Empty once the list is out of sight, or for another line. */
  #listed = '';

  constructor(complete: LineReaderOptions['complete']) {
    this.#complete = complete;
  }

  forgetList(): void {
    this.#listed = '';
  }

  /** Returns false if none runs. */
  stop(): boolean {
    this.#running?.abort();
    return this.#running !== null;
  }

  async run(state: LineState): Promise<CompletionEffect> {
    const text = plain(state.text);
    // A line with a fold is not completed, because its text is not what is shown.
    if (text !== unfolded(state.text, [])) return { kind: 'folded', state, list: '' };
    this.#running = new AbortController();
    try {
      const { from, to, insert, choices } = await this.#complete(text, state.cursor, this.#running.signal);
      if (text.slice(from, to) !== insert)
        return { kind: 'inserted', state: replaced(state, from, to, insert), list: '' };
      const list = choices.length > 1 ? choices.map((choice) => `${choice}\n`).join('') : '';
      const isNew = list !== this.#listed && list !== '';
      if (isNew) this.#listed = list;
      return { kind: isNew ? 'listed' : 'nothing', state, list };
    } finally {
      this.#running = null;
    }
  }
}
