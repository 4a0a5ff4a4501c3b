// `parley serve` as a process over the data directory of a place: its address, its log, and its end.
import { once } from 'node:events';
import type { Outcome, Place, Running, Variables } from './parley.ts';

export interface ServedPlace {
  readonly url: string;
  readonly port: number;
  readonly child: Running;
  /** Its output so far. */
  readonly written: { out: string; err: string };
  /** Sends a signal, and resolves when the process is gone. */
  end(signal: NodeJS.Signals): Promise<Pick<Outcome, 'status' | 'out' | 'err'>>;
}

/** Unless `words` say otherwise, the server ends without a drain period, which is 5 s over PostgreSQL. */
export async function servePlace(
  place: Place,
  words: readonly string[] = [],
  env: Variables = {},
): Promise<ServedPlace> {
  const drain = words.includes('--drain') ? [] : ['--drain', '0'];
  const child = place.start(['serve', '--port', '0', ...drain, ...words], env);
  const written = { out: '', err: '' };
  const closed = once(child, 'close');
  child.stderr.on('data', (chunk: Buffer) => {
    written.err += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      written.out += chunk;
      const found = /http:\/\/[\d.]+:\d+/.exec(written.out);
      if (found !== null) resolve(found[0]);
    });
    child.once('close', () => reject(new Error(`parley serve ended: ${written.err}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    child,
    written,
    async end(signal) {
      child.kill(signal);
      const [status] = await closed;
      return { status, ...written };
    },
  };
}
