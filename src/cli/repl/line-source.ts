// The source of the lines of a REPL. It has two implementations: LineReader, and PlainLineReader for terminals without cursor control.
import type { PromptFor } from './line-layout.ts';
import type { SubmittedLine } from './submitted-line.ts';

/** `left`: Ctrl-D was pressed. `gone`: the terminal closed. */
export type ReadLine =
  | { readonly kind: 'line'; readonly line: SubmittedLine }
  | { readonly kind: 'left' }
  | { readonly kind: 'gone' };

export interface LineSource {
  /** Reads the next line. `initial` is shown at the prompt, followed by the text that was typed in the meantime. */
  read(prompt: PromptFor, initial: string): Promise<ReadLine>;
  /** Says how to enter another line before the one that `initial` put at the prompt. Empty if that needs no key. */
  readonly clearLineHint: string;
  /** Says how to get the previous line back. Empty if there is no way. */
  readonly recallHint: string;
  /** False if a prompt that is shown stays on the screen. */
  readonly replacesPrompt: boolean;
  /** Changes the prompt of the line that is being read. */
  reprompt(prompt: PromptFor): void;
  /** Writes text above the line that is being read. */
  above(write: () => Promise<void>): Promise<void>;
  /** Sets what Ctrl-C calls while no line is read. */
  onInterrupt(listener: (() => void) | null): void;
  /** Gives the terminal to another program or to a question until `borrow` settles. */
  lend<T>(borrow: () => Promise<T>): Promise<T>;
  close(): void;
}
