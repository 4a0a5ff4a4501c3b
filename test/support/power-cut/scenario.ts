// The parts of every power-cut scenario: a command, and the checks by later commands.
import type { Place } from '../parley.ts';

/** The output that a person had read before the power cut. */
export interface ReadOutput {
  readonly out: string;
  readonly err: string;
  /** The command had ended, with success. */
  readonly ended: boolean;
}

export interface RecordedCommand {
  readonly words: readonly string[];
  readonly stdin?: string;
}

export interface Scenario {
  readonly name: string;
  /** Prepares the place. Its state then counts as synced. */
  prepare(place: Place): Promise<RecordedCommand>;
  /** Runs the next commands, and returns the faults, as text. */
  faults(place: Place, output: ReadOutput): Promise<readonly string[]>;
}

export const echo = ['chat', '-n', '--mode', 'echo'];

/** The command must succeed; `what` is the fault if its output is unexpected. */
export async function expected(
  place: Place,
  words: readonly string[],
  what = '',
  holds: (out: string) => boolean = () => true,
): Promise<readonly string[]> {
  const { status, out, err } = await place.parley(words);
  if (status !== 0) return [`parley ${words.join(' ')} ends with ${status}: ${err}`];
  return holds(out) ? [] : [`${what}: parley ${words.join(' ')} says ${JSON.stringify(out)}`];
}

export async function useOnce(place: Place): Promise<void> {
  await place.output([...echo, 'before']);
}
