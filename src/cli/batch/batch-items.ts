// The lines of stdin as the items of a batch, as they come: each id once, and none that was answered before.
import { ParleyError } from '../../service/errors.ts';
import { type ByteLine, byteLines } from '../terminal/byte-lines.ts';
import { type StdinReading, stdinBytes } from '../terminal/stdin.ts';
import { type BatchId, type BatchLine, longestLine } from './batch-request.ts';

export interface BatchItemsOptions {
  readonly reading: StdinReading;
  /** Null for a line that asks for nothing. */
  readonly read: (line: ByteLine) => BatchLine | null;
  readonly messageBytes: number;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** Is told of each line that was answered before. */
  readonly skipped: () => void;
}

export async function* batchItems(options: BatchItemsOptions): AsyncGenerator<BatchLine, void> {
  const { reading, read, answered, skipped } = options;
  const seen = new Set<string | number>();
  for await (const line of byteLines(stdinBytes(reading), longestLine(options))) {
    const item = read(line);
    if (item === null) continue;
    const key = keyOf(item.id);
    if (seen.has(key)) yield { ...item, request: repeated(item) };
    else if (answered.has(key)) skipped();
    else yield item;
    seen.add(key);
  }
}

/** The same for a number and its digits: the number, which a set keeps in a quarter of the memory of a text. */
export function keyOf(id: BatchId): string | number {
  const number = Number(id);
  return Number.isSafeInteger(number) && String(number) === String(id) ? number : id;
}

function repeated({ id, line }: BatchLine): ParleyError {
  return new ParleyError('INVALID_REQUEST', `Line ${line}: the id ${JSON.stringify(id)} stood before.`, {
    hint: 'Nothing of this line was sent. Give each line an id of its own, or none: then its number is its id.',
    details: [{ field: `line ${line}, id`, problem: 'stood in a line before' }],
  });
}
