// The parts of every power-cut scenario: a command, and the checks by later commands.
import type { Place } from '../parley.ts';

/** What a person had read when the power went. */
export interface Told {
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
  /** Puts the place into order. What it leaves counts as synced. */
  prepare(place: Place): Promise<RecordedCommand>;
  /** Runs the next commands, and returns what is wrong, in words. */
  faults(place: Place, told: Told): Promise<readonly string[]>;
}

export const echo = ['chat', '-n', '--mode', 'echo'];

/** The command must work; `what` is wrong unless its output holds. */
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
