// The cost of rendering a text: the processor time of this process, which depends little on other processes, and the number of turns of the event
// loop meanwhile.
import { stringTerminal, writerTo } from './rendering.ts';

export interface RenderingCost {
  readonly total: number;
  /** The longest time in which the event loop did not turn. */
  readonly longest: number;
  readonly turns: number;
}

const milliseconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** By default the text is one chunk. */
export async function costOf(text: string, pieceLength = text.length): Promise<RenderingCost> {
  const writer = writerTo(stringTerminal({ colour: true }));
  const start = milliseconds();
  let last = start;
  let longest = 0;
  let turns = 0;
  let isDone = false;
  const turn = () => {
    const now = milliseconds();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  for (let at = 0; at < text.length; at += pieceLength) await writer.write(text.slice(at, at + pieceLength));
  await writer.endLine();
  isDone = true;
  const total = milliseconds() - start;
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
