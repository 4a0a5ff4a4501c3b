// JSON for stdout: one line without any character that a terminal could act on. Its parsed value does not change.
import { dangerousCharacters } from './filter.ts';

/**
 * JSON.stringify escapes C0 and halves of surrogate pairs. Other dangerous characters occur only inside strings and are escaped here.
 */
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
