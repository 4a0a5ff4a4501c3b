// Where the REPL gets its lines from. Two keep it: the line reader of a terminal that can do something, and the plain one.
import type { PromptFor } from './line-layout.ts';
import type { SubmittedLine } from './submitted-line.ts';

/** `left`: the person is done (Ctrl-D). `gone`: the terminal went away. */
export type ReadLine =
  | { readonly kind: 'line'; readonly line: SubmittedLine }
  | { readonly kind: 'left' }
  | { readonly kind: 'gone' };

export interface LineSource {
  /** What is typed next. `initial` stands at the prompt already; what was typed meanwhile comes after it. */
  read(prompt: PromptFor, initial: string): Promise<ReadLine>;
  /** How a person enters another line first; empty where `initial` is not in the way of it. */
  readonly makeRoom: string;
  /** How the line before is had again, if there is a way. */
  readonly recall?: string;
  /** While a line is read: the prompt from now on. */
  reprompt(prompt: PromptFor): void;
  /** Shows text without tearing the line that is being read. */
  above(write: () => Promise<void>): Promise<void>;
  /** Ctrl-C while no line is read. */
  onInterrupt(listener: (() => void) | null): void;
  /** Gives the terminal to another program, or to a question, until it is done. */
  lend<T>(borrow: () => Promise<T>): Promise<T>;
  close(): void;
}
