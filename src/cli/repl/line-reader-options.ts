// What the line reader is given: the terminal, and what it asks of others while a line is typed.
import type { Job } from '../job.ts';
import type { Output } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import type { Completion } from './completion.ts';

export interface LineReaderOptions {
  readonly open: () => TerminalInput;
  readonly output: Output;
  readonly job: Job;
  readonly reflows: boolean;
  /** The oldest first; it may grow. */
  readonly history: () => readonly string[];
  /** The signal stops it; then there is nothing to choose from. */
  readonly complete: (text: string, cursor: number, signal: AbortSignal) => Promise<Completion>;
  /** Ctrl-C at an empty prompt. */
  readonly leaveHint: string;
  /** Lets a person write the line in a program of theirs; null if it was left as it is. */
  readonly openEditor: (text: string) => Promise<string | null>;
}
