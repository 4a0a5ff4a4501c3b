// The log of a server: a line of JSON per request and per trouble. It never holds a key, a query, or what was said.
import { type Logger, pino } from 'pino';

export interface ServerLog {
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Writes what waits: lines go out together, a few times a second, for each write costs as much as several of them. */
  flush(): void;
}

/** The form of this service's own keys, wherever one turns up; most lines hold nothing that begins so. */
const keyPrefix = 'pk_';
const keys = /pk_[0-9A-Za-z]{33}/g;
const redacted = '[key]';

const flushMs = 50;
const waitingCharacters = 64 * 1024;

/** `write` takes whole lines; `now` in epoch milliseconds. */
export function serverLog(write: (lines: string) => void, now: () => number): ServerLog {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    const ready = lines.includes(keyPrefix) ? lines.replace(keys, redacted) : lines;
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

/** A text without the key that it came with, whatever form that has. */
export function withoutKey(text: string, apiKey: string): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, redacted);
}
