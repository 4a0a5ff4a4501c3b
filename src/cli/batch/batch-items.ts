// The lines of stdin as the items of a batch, as they come: each id once, and none that was answered before.
import { ParleyError } from '../../service/errors.ts';
import { type ByteLine, byteLines } from '../terminal/byte-lines.ts';
import { type StdinReading, stdinBytes } from '../terminal/stdin.ts';
import { type BatchLine, longestLine } from './batch-request.ts';
import { IdSet } from './id-set.ts';

export interface BatchItemsOptions {
  readonly reading: StdinReading;
  /** Null for a line that asks for nothing. */
  readonly read: (line: ByteLine) => BatchLine | null;
  readonly messageBytes: number;
  readonly answered: IdSet | null;
  /** Told of each line that was answered before. */
  readonly skipped: () => void;
}

export async function* batchItems(options: BatchItemsOptions): AsyncGenerator<BatchLine, void> {
  const { reading, read, answered, skipped } = options;
  const ids = new IdSet();
  for await (const line of byteLines(stdinBytes(reading), longestLine(options))) {
    const item = read(line);
    if (item === null) continue;
    if (!ids.add(item.id)) yield { ...item, request: repeated(item) };
    else if (answered?.has(item.id)) skipped();
    else yield item;
  }
}

function repeated({ id, line }: BatchLine): ParleyError {
  return new ParleyError('INVALID_REQUEST', `Line ${line}: the id ${JSON.stringify(id)} stood before.`, {
    hint: 'Nothing of this line was sent. Give each line an id of its own, or none: then its number is its id.',
    details: [{ field: `line ${line}, id`, problem: 'stood in a line before' }],
  });
}
