// How many messages or sessions are read together: as many as take at most `pageBytes` as JSON. The rule is the same for every store.
import { pageBytes } from '../service/limits.ts';
import type { SessionRow } from './rows.ts';

/** The bytes of the other fields of a message or a session, as JSON. */
const otherBytes = 512;

export class PageBudget {
  #minimum: number;
  #bytes = pageBytes;

  /** `minimum`: how many items are taken whatever their length. */
  constructor(minimum: number) {
    this.#minimum = minimum;
  }

  /** False for the first message, or the first session, that does not fit. */
  take(...texts: readonly (string | null)[]): boolean {
    this.#bytes -= texts.reduce((sum, text) => sum + (text === null ? 0 : jsonBytes(text)), otherBytes);
    this.#minimum -= 1;
    return this.#bytes >= 0 || this.#minimum >= 0;
  }
}

/** The rows before the first one that does not fit. */
export function takeWhile<Row>(rows: readonly Row[], fits: (row: Row) => boolean): readonly Row[] {
  const end = rows.findIndex((row) => !fits(row));
  return end < 0 ? rows : rows.slice(0, end);
}

const quote = 0x22;
const backslash = 0x5c;

/** The texts of a session's row that count. Parameters are JSON already: they are counted as if they were escaped once more. */
export function textsOf(row: SessionRow): readonly (string | null)[] {
  return [
    row.session_id,
    row.title,
    row.mode,
    row.parent_id,
    row.parameters,
    row.system,
    row.tags,
    row.user_id,
  ];
}

/** The UTF-8 bytes of a text as JSON, without its quotes. Five control characters have a short escape. */
function jsonBytes(text: string): number {
  let bytes = Buffer.byteLength(text);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20) bytes += unit >= 8 && unit <= 13 && unit !== 11 ? 1 : 5;
    else if (unit === quote || unit === backslash) bytes += 1;
  }
  return bytes;
}
