// The source of the lines of a REPL. It has two implementations: LineReader, and PlainLineReader for terminals that can move no cursor.
import type { PromptFor } from './line-layout.ts';
import type { SubmittedLine } from './submitted-line.ts';

/** `left`: the person pressed Ctrl-D. `gone`: the terminal closed. */
export type ReadLine =
  | { readonly kind: 'line'; readonly line: SubmittedLine }
  | { readonly kind: 'left' }
  | { readonly kind: 'gone' };

export interface LineSource {
  /** Reads the next line. `initial` stands at the prompt already, followed by what was typed meanwhile. */
  read(prompt: PromptFor, initial: string): Promise<ReadLine>;
  /** Says how to enter another line first. Empty if `initial` does not prevent that. */
  readonly makeRoom: string;
  /** Says how to get the previous line back, if there is a way. */
  readonly recall?: string;
  /** Changes the prompt of the line that is being read. */
  reprompt(prompt: PromptFor): void;
  /** Writes text above the line that is being read. */
  above(write: () => Promise<void>): Promise<void>;
  /** Sets what Ctrl-C calls while no line is read. */
  onInterrupt(listener: (() => void) | null): void;
  /** Gives the terminal to another program or to a question until that is done. */
  lend<T>(borrow: () => Promise<T>): Promise<T>;
  close(): void;
}
