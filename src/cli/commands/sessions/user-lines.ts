// The typed lines of a history without what a person's sessions hold, and without their name.
import { redactionMark } from '../../secrets/found-secrets.ts';

/** `said`: the lines that the sessions hold. A name is found as whole words. */
export function withoutUser(line: string, user: string, said: ReadonlySet<string>): string {
  if (said.has(line)) return redactionMark('message');
  return line.split(user).reduce((before, after) => {
    const isPart = /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);
    return `${before}${isPart ? user : redactionMark('user')}${after}`;
  });
}
