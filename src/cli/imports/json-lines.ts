// Reads JSON lines: one value a line, each parsed by itself.
import { byteLines } from '../terminal/byte-lines.ts';
import { importLimits } from './import-limits.ts';
import { broken, type JsonItem, parsedItem } from './json-items.ts';

export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonItem, void> {
  for await (const { number, bytes } of byteLines(chunks, importLimits.itemBytes)) {
    const place = `line ${number}`;
    if (bytes === null) {
      const problem = `has more than ${importLimits.itemBytes} bytes, the limit of a line`;
      yield { place, value: undefined, failure: broken(place, problem) };
    } else if (!isBlank(bytes)) yield parsedItem(place, bytes);
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length < 64 && Buffer.from(bytes).toString().trim() === '';
}
