// Completes the edited line for Tab, and remembers which choices are listed above that line.
import type { LineReaderOptions } from './line-reader-options.ts';
import { type LineState, replaceText } from './line-state.ts';
import { plain, unfoldText } from './line-text.ts';

/**
 * `inserted`: the line has changed. `listed`: the caller shows `list` above the line. `nothing`: there is nothing to insert or to list.
 * `folded`: the command has a fold and cannot be completed.
 */
interface CompletionEffect {
  readonly kind: 'inserted' | 'listed' | 'nothing' | 'folded';
  readonly state: LineState;
  readonly list: string;
}

export class LineCompletion {
  readonly #complete: LineReaderOptions['complete'];
  #running: AbortController | null = null;
  /** The list above the current line. Empty if there is none, or if it is out of sight. */
  #listed = '';

  constructor(complete: LineReaderOptions['complete']) {
    this.#complete = complete;
  }

  forgetList(): void {
    this.#listed = '';
  }

  /** Stops the running completion. Returns false if none is running. */
  stop(): boolean {
    this.#running?.abort();
    return this.#running !== null;
  }

  async run(state: LineState): Promise<CompletionEffect> {
    const text = plain(state.text);
    // A pasted slash begins no command, and a pasted `@` no path. They are private units here.
    const typed = text.replace(/^\/|(?<!\S)@/g, (_, at: number) => state.text.charAt(at));
    // The argument of a command is not completed if it has a fold, because the shown text differs from its text.
    const isFolded = text !== unfoldText(state.text, []);
    if (isFolded && typed.startsWith('/')) return { kind: 'folded', state, list: '' };
    this.#running = new AbortController();
    try {
      const { from, to, insert, choices } = await this.#complete(typed, state.cursor, this.#running.signal);
      if (typed.slice(from, to) !== insert)
        return { kind: 'inserted', state: replaceText(state, from, to, insert), list: '' };
      const list = choices.length > 1 ? choices.map((choice) => `${choice}\n`).join('') : '';
      const isNew = list !== this.#listed && list !== '';
      if (isNew) this.#listed = list;
      return { kind: isNew ? 'listed' : 'nothing', state, list };
    } finally {
      this.#running = null;
    }
  }
}
