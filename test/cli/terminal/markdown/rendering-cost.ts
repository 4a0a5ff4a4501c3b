// The cost of rendering a text: the processor time of this process, and the number of turns of the event
// loop meanwhile.

import { processorMs } from '../../../support/processor-time.ts';
import { stringTerminal, writerTo } from './rendering.ts';

export interface RenderingCost {
  readonly total: number;
  /** The longest time in which the event loop did not turn. */
  readonly longest: number;
  readonly turns: number;
}

/** By default the text is one chunk. */
export async function costOf(text: string, pieceLength = text.length): Promise<RenderingCost> {
  const writer = writerTo(stringTerminal({ colour: true }));
  const start = processorMs();
  let last = start;
  let longest = 0;
  let turns = 0;
  let isDone = false;
  const turn = () => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  for (let at = 0; at < text.length; at += pieceLength) await writer.write(text.slice(at, at + pieceLength));
  await writer.endLine();
  isDone = true;
  const total = processorMs() - start;
  await new Promise((resolve) => setImmediate(resolve));
  return { total, longest, turns };
}

/** The lowest of some measurements, because disturbances only lengthen them. */
export async function minCostOf(text: string, pieceLength?: number, rounds = 3): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    least = Math.min(least, (await costOf(text, pieceLength)).total);
  }
  return least;
}
