// Turns the lines of stdin into the items of a batch: each id once, without those that an earlier run has answered.
import { ParleyError } from '../../service/errors.ts';
import { type ByteLine, byteLines } from '../terminal/byte-lines.ts';
import { type StdinReading, stdinBytes } from '../terminal/stdin.ts';
import { type BatchId, type BatchLine, maxLineBytes } from './batch-request.ts';

interface BatchItemsOptions {
  readonly reading: StdinReading;
  /** Null for a line without a request. */
  readonly read: (line: ByteLine) => BatchLine | null;
  readonly messageBytes: number;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** Called for each line that an earlier run has answered. */
  readonly onSkip: () => void;
}

export async function* batchItems(options: BatchItemsOptions): AsyncGenerator<BatchLine, void> {
  const { reading, read, answered, onSkip } = options;
  const seen = new Set<string | number>();
  for await (const line of byteLines(stdinBytes(reading), maxLineBytes(options))) {
    const item = read(line);
    if (item === null) continue;
    const key = keyOf(item.id);
    if (seen.has(key)) yield { ...item, request: repeatedId(item) };
    else if (answered.has(key)) onSkip();
    else yield item;
    seen.add(key);
  }
}

/**
 * The key of an id. A number and its digits have the same key. The key is a number where possible, because a set of numbers takes a quarter
 * of the memory.
 */
export function keyOf(id: BatchId): string | number {
  const number = Number(id);
  return Number.isSafeInteger(number) && String(number) === String(id) ? number : id;
}

function repeatedId({ id, line }: BatchLine): ParleyError {
  return new ParleyError('INVALID_REQUEST', `Line ${line}: the id ${JSON.stringify(id)} was already used.`, {
    hint: 'This line was not sent. Give each line its own id, or none: its line number is then its id.',
    details: [{ field: `line ${line}, id`, problem: 'was already used by an earlier line' }],
  });
}
