// Separates the notes that a model writes before its reply, as `<think>…</think>`, from the reply. Servers with a parser for their model do
// that themselves (llama.cpp, vLLM, LM Studio and Ollama can). The result does not depend on how the text is split into chunks.
import type { ModeSettings } from '../../service/mode-settings.ts';

/** A chunk of the notes, and the chunk of the reply that follows it. Either may be empty. */
export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const openingTags = ['<think>', '<thinking>'];
const defaultClosingTag = '</think>';
/** The most white space that is held back before a tag. A model may send endless white space. */
const maxSpace = 1000;

type State = 'start' | 'notes' | 'gap' | 'reply';

export class ThinkTags {
  #state: State;
  readonly #isOpened: boolean;
  #closingTag = defaultClosingTag;
  #hasNotes = false;
  /** Text that may still become a tag. */
  #held = '';

  constructor(handling: ModeSettings['think_tags']) {
    this.#state = handling === 'keep' ? 'reply' : 'start';
    // If the template of a model has opened the tag, the text of the model begins with notes. Most such models do not open the tag again.
    this.#isOpened = handling === 'open';
  }

  /** True while the notes have begun and not ended. */
  get isOpen(): boolean {
    return this.#state === 'notes';
  }

  /** Treats all later text as the reply, for a server that sends the notes in a separate field. */
  stopSeparating(): void {
    if (this.#state === 'start') this.#state = 'reply';
  }

  take(chunk: string): SplitText {
    if (this.#state === 'reply' && this.#held === '') return { reasoning: '', text: chunk };
    this.#held += chunk;
    if (this.#state === 'start') this.#readStart();
    const reasoning = this.#state === 'notes' ? this.#readNotes() : '';
    if (this.#state === 'gap') this.#readGap();
    return { reasoning, text: this.#state === 'reply' ? this.#release(this.#held.length) : '' };
  }

  /** Returns the text that was held back. Must be the last call. */
  rest(): SplitText {
    const remainder = this.#release(this.#held.length);
    return this.#state === 'notes' ? { reasoning: remainder, text: '' } : { reasoning: '', text: remainder };
  }

  #readStart(): void {
    const space = /^\s*/.exec(this.#held)?.[0].length ?? 0;
    const isTooMuch = space > maxSpace;
    const begin = this.#held.slice(space, space + 10);
    const tag = isTooMuch ? undefined : openingTags.find((one) => begin.startsWith(one));
    if (tag !== undefined) {
      this.#release(space + tag.length);
      this.#closingTag = tag.replace('<', '</');
      this.#state = 'notes';
    } else if (isTooMuch || !openingTags.some((one) => one.startsWith(begin))) {
      this.#state = this.#isOpened ? 'notes' : 'reply';
    }
  }

  /** White space around the notes is removed with the tags. */
  #readNotes(): string {
    if (!this.#hasNotes) {
      this.#held = this.#held.trimStart();
      this.#hasNotes = this.#held !== '' && !this.#closingTag.startsWith(this.#held);
    }
    const end = this.#held.indexOf(this.#closingTag);
    if (end < 0) return this.#release(this.#held.length - this.#partialTagLength());
    const notes = this.#release(end);
    this.#release(this.#closingTag.length);
    this.#state = 'gap';
    return notes;
  }

  #readGap(): void {
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#state = 'reply';
  }

  /** The number of characters at the end that may be the beginning of the closing tag. */
  #partialTagLength(): number {
    for (let length = Math.min(this.#held.length, this.#closingTag.length - 1); length > 0; length -= 1) {
      if (this.#closingTag.startsWith(this.#held.slice(-length))) return length;
    }
    return 0;
  }

  #release(length: number): string {
    const released = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return released;
  }
}
