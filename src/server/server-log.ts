// The log of a server: a line of JSON per request and per trouble. It never holds a key, a query, or what was said.
import { type Logger, pino } from 'pino';

export interface ServerLog {
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Writes what waits: lines go out together, a few times a second, for each write costs as much as several of them. */
  flush(): void;
}

/** The form of this service's own keys, wherever one turns up; most lines hold nothing that begins so. */
const keyPrefix = /pk_/i;
const keys = /pk_[0-9A-Za-z]{33}/gi;
const redacted = '[key]';

const flushMs = 50;
const waitingCharacters = 64 * 1024;

/** `write` takes whole lines; `now` in epoch milliseconds. */
export function serverLog(write: (lines: string) => void, now: () => number): ServerLog {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    const ready = keyPrefix.test(lines) ? lines.replace(keys, redacted) : lines;
    lines = '';
    if (ready !== '') write(ready);
  };
  const destination = {
    write(line: string) {
      if (lines === '') timer = setTimeout(flush, flushMs);
      lines += line;
      if (lines.length > waitingCharacters) flush();
    },
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  return {
    logger: pino({ base: null, timestamp: timestamps(now), formatters }, destination),
    flush,
  };
}

/** As a member of a line. Made once a millisecond: a busy server writes many lines in one. */
function timestamps(now: () => number): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const time = now();
    if (time !== last) text = `,"time":"${new Date(time).toISOString()}"`;
    last = time;
    return text;
  };
}

/** So many times a path may be percent-encoded over and over; of one that goes on, nothing is logged. */
const mostLayers = 5;

/** A path without keys, however they are percent-encoded in it, and without the key that it came with, whatever form that has. */
export function withoutKeys(path: string, apiKey: string): string {
  let text = path;
  let hasKey = false;
  for (let layer = 0; layer <= mostLayers; layer += 1) {
    const clean = (apiKey === '' ? text : text.replaceAll(apiKey, redacted)).replace(keys, redacted);
    hasKey ||= clean !== text;
    const decoded = percentDecoded(clean);
    if (decoded === clean) return hasKey ? clean : path;
    text = decoded;
  }
  return '[encoded]';
}

/** What is no percent-encoding stays as it is. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('latin1'),
  );
}
