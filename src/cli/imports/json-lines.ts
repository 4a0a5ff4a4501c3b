// Reads JSON lines: one value per line, each parsed separately.
import { byteLines } from '../terminal/byte-lines.ts';
import { importLimits } from './import-limits.ts';
import { broken, isTooDeep, type JsonItem, parsedItem } from './json-items.ts';
import type { SessionSize } from './session-size.ts';

/** `size` counts the bytes, because the caller keeps all lines in memory. */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  size: SessionSize,
): AsyncGenerator<JsonItem, void> {
  for await (const { number, bytes } of byteLines(chunks, importLimits.itemBytes)) {
    const place = `line ${number}`;
    size.add(bytes?.length ?? 0);
    if (bytes === null) {
      const problem = `has more than ${importLimits.itemBytes} bytes, the limit of a line`;
      yield { place, value: undefined, failure: broken(place, problem) };
    } else if (isTooDeep(bytes)) {
      const problem = `is nested deeper than ${importLimits.depth}`;
      yield { place, value: undefined, failure: broken(place, problem) };
    } else if (!isBlank(bytes)) yield parsedItem(place, bytes);
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length < 64 && Buffer.from(bytes).toString().trim() === '';
}
