// JSON for stdout: one line, and nothing in it that a terminal could act on. The value that it parses to is untouched.
import { dangerousCharacters } from './filter.ts';

/** JSON.stringify escapes C0 and halves of surrogate pairs itself; the rest can stand only inside strings, so it is escaped there. */
export function toJson(value: unknown): string {
  return escapeDangerous(JSON.stringify(value) ?? 'null');
}

/** The same for a text that is JSON already. */
export function escapeDangerous(json: string): string {
  return json.replace(dangerousCharacters, escapedUnits);
}

function escapedUnits(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
