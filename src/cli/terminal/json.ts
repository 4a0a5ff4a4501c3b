// JSON for stdout: one line, in which every character that could control a terminal is escaped. The parsed value does not change.
import { ExactNumber } from '../../service/exact-number.ts';
import { dangerousCharacters } from './filter.ts';

/**
 * JSON.stringify escapes C0 and halves of surrogate pairs. Other dangerous characters occur only inside strings and are escaped here.
 */
export function toJson(value: unknown): string {
  const numbers: string[] = [];
  const json =
    JSON.stringify(value, (_name, inner: unknown) =>
      inner instanceof ExactNumber ? `${mark}${numbers.push(inner.literal) - 1}` : inner,
    ) ?? 'null';
  if (numbers.length === 0) return escapeDangerous(json);
  return escapeDangerous(json.replace(marked, (text, index: string) => numbers[Number(index)] ?? text));
}

/** The line of JSON for a result, in the form of a body of the API. */
export function successLine(data: unknown): string {
  return `${toJson({ success: true, data })}\n`;
}

/** Marks the placeholder of an exact number until the number is written. A lone surrogate does not occur in valid text. */
const mark = '\udfff';
const marked = /"\\udfff(\d+)"/g;

/** Escapes the dangerous characters of a text that is already JSON. */
export function escapeDangerous(json: string): string {
  return json.replace(dangerousCharacters, escapeUnits);
}

function escapeUnits(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
