// The options of the line reader: the terminal, and the functions that it calls while a line is typed.
import type { Job } from '../job.ts';
import type { Output } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import type { Completion } from './completion.ts';

export interface LineReaderOptions {
  readonly open: () => TerminalInput;
  readonly output: Output;
  readonly job: Job;
  /** See `LinePainterOptions`. */
  readonly reflows: boolean;
  /** The oldest line first. The list may grow. */
  readonly history: () => readonly string[];
  /** The signal stops the completion, which then offers no choices. */
  readonly complete: (text: string, cursor: number, signal: AbortSignal) => Promise<Completion>;
  /** Shown after Ctrl-C at an empty prompt. */
  readonly leaveHint: string;
  /** Lets the user edit the text in an external program. Null if the editor failed. */
  readonly openEditor: (text: string) => Promise<string | null>;
}
