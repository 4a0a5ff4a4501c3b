// Reads JSON lines: one value per line, each parsed separately.
import { byteLines } from '../terminal/byte-lines.ts';
import { importLimits } from './import-limits.ts';
import { brokenItem, isTooDeep, type JsonItem, jsonItems, parsedItem } from './json-items.ts';
import type { SessionSize } from './session-size.ts';

const lineFeed = 0x0a;
const openBrace = 0x7b;

/**
 * Reads values in a row. If the first line is an object, each line is a value, and a damaged line does not affect the lines after it.
 * Otherwise a value ends at its closing bracket.
 */
export async function* jsonValues(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonItem, void> {
  const source = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let hasLine = false;
  for (let bytes = 0; !hasLine && bytes <= importLimits.itemBytes; ) {
    const next = await source.next();
    if (next.done === true) break;
    first.push(next.value);
    bytes += next.value.length;
    hasLine = next.value.includes(lineFeed);
  }
  async function* beginning(): AsyncGenerator<Uint8Array, void> {
    yield* first;
  }
  async function* all(): AsyncGenerator<Uint8Array, void> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  yield* (await startsWithObject(beginning())) ? jsonLines(all(), null) : jsonItems(all());
}

/** True if the first line is a whole object. */
async function startsWithObject(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const { bytes } of byteLines(chunks, importLimits.itemBytes))
    return bytes?.[0] === openBrace && !isTooDeep(bytes) && parsedItem('', bytes).failure === null;
  return false;
}

/** `size` counts the bytes if the caller keeps all lines in memory. */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  size: SessionSize | null,
): AsyncGenerator<JsonItem, void> {
  for await (const { number, bytes } of byteLines(chunks, importLimits.itemBytes)) {
    const place = `line ${number}`;
    size?.add(bytes?.length ?? 0);
    if (bytes === null)
      yield brokenItem(place, `has more than ${importLimits.itemBytes} bytes, the limit of a line`);
    else if (isTooDeep(bytes)) yield brokenItem(place, `is nested deeper than ${importLimits.depth}`);
    else if (!isBlank(bytes)) yield parsedItem(place, bytes);
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length < 64 && Buffer.from(bytes).toString().trim() === '';
}
