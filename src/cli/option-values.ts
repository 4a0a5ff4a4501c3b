// Parsers of option values that several commands share.
import { InvalidArgumentError } from 'commander';

/** For an option that may be repeated: all its values, in their order. */
export function repeatable(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** For `--confirm`: the number of sessions that the user confirms. */
export function confirmedSessions(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of sessions that --dry-run shows.');
}
