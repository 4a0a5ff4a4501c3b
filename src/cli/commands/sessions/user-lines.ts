// Redacts a line of the input history: what the sessions of a user contain, and the name of the user.
import { redactionMark } from '../../secrets/found-secrets.ts';

/** `sessionLines` are the lines that the sessions contain. The name is replaced only as whole words. */
export function withoutUser(line: string, user: string, sessionLines: ReadonlySet<string>): string {
  if (sessionLines.has(line)) return redactionMark('message');
  return line.split(user).reduce((before, after) => {
    const isPart = /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);
    return `${before}${isPart ? user : redactionMark('user')}${after}`;
  });
}
