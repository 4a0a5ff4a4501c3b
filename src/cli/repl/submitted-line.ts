// A line that was submitted: what it says, and whether it may be a slash command.
import { asTyped, type LineState } from './line-state.ts';
import { unfolded } from './line-text.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, or written between `"""`: a slash at its start is a slash. */
  readonly mayBeCommand: boolean;
  /** As the history keeps it, and as it comes back to the prompt. */
  readonly typed: string;
}

export function submitted(state: LineState): SubmittedLine {
  const whole = unfolded(state.text, state.pastes);
  const typed = asTyped(state);
  const block = state.startsPasted ? null : /^"""[ \t]*\n?([\s\S]*?)\n?[ \t]*"""\s*$/.exec(whole);
  if (block !== null) return { text: block[1] ?? '', mayBeCommand: false, typed };
  return { text: whole, mayBeCommand: !state.startsPasted, typed };
}
