// Decodes an export of Parley. A line that is not UTF-8 becomes a line that is not JSON, so that only its session fails.
import { isUtf8 } from 'node:buffer';
import { maxRecordCharacters } from '../transcripts/exported-records.ts';

const newline = 0x0a;

/** Yields whole lines. A line that is too long for a session comes in parts, whose characters do not matter. */
export async function* exportedText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let begun: Uint8Array[] = [];
  let bytes = 0;
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1;
    bytes += chunk.length;
    if (end === 0) {
      begun.push(chunk);
      if (bytes <= maxRecordCharacters) continue;
      yield Buffer.concat(begun).toString();
      begun = [];
      bytes = 0;
      continue;
    }
    const text = decodedLines(Buffer.concat([...begun, chunk.subarray(0, end)]));
    yield isFirst ? text.replace(/^\ufeff/, '') : text;
    isFirst = false;
    begun = [chunk.subarray(end)];
    bytes = chunk.length - end;
  }
  const text = decodedLines(Buffer.concat(begun));
  yield isFirst ? text.replace(/^\ufeff/, '') : text;
}

function decodedLines(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = '';
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(newline, start);
    const end = next === -1 ? bytes.length : next + 1;
    const line = bytes.subarray(start, end);
    text += isUtf8(line) ? line.toString() : '\0\n';
    start = end;
  }
  return text;
}
