// Parses the JSON of a reply. Models often put it into a fenced block (```json) although they are asked not to, so such a block is accepted. Any
// other text around the JSON is an error.
import { type Fault, type ReadJson, readExactJson } from './exact-reader.ts';
import type { ScannedSchema } from './schema-scan.ts';

/** The most characters of a reply that is checked. */
export const maxCharacters = 8 * 1024 * 1024;

const openingFence = /^(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*$/i;

/** Throws `UnreadableJson`. */
export function readReply(reply: string): ReadJson {
  return readExactJson(unfenced(reply.replace(/^\ufeff/, '').trim()));
}

/** The text between the fences, if the whole reply is one block of JSON; otherwise the reply. */
function unfenced(text: string): string {
  const start = text.indexOf('\n');
  const end = text.lastIndexOf('\n');
  const [, fence] = openingFence.exec(text.slice(0, Math.max(start, 0)).trimEnd()) ?? [];
  if (fence === undefined || start === end || text.slice(end + 1).trim() !== fence) return text;
  return text.slice(start + 1, end);
}

/**
 * The first number that a JavaScript number cannot represent and whose digits matter for the schema; null if there is none. Rounding keeps the
 * order of numbers, so a rounded number compares wrongly only with the number that it was rounded to.
 */
export function uncomparableNumber({ inexact }: ReadJson, schema: ScannedSchema): Fault | null {
  for (const { place, number } of inexact) {
    const rounded = Number(number);
    const isInteger = /^-?\d+$/.test(number.literal);
    const isSafe = Number.isFinite(rounded) && isInteger === Number.isInteger(rounded);
    if (!isSafe || schema.comparesAll || schema.numbers.has(rounded))
      return { place, reason: 'the number has more digits than can be compared' };
  }
  return null;
}
