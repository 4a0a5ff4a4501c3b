// The log of a server: a line of JSON per request and per trouble. It never holds a key, a query, or what was said.
import { type Logger, pino, stdTimeFunctions } from 'pino';

export interface ServerLog {
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Writes what waits: lines go out together, a few times a second, for each write costs as much as several of them. */
  flush(): void;
}

/** The form of this service's own keys, wherever one turns up. */
const keys = /pk_[0-9A-Za-z]{33}/g;
const redacted = '[key]';

const flushMs = 50;
const waitingCharacters = 64 * 1024;

/** `write` takes whole lines. */
export function serverLog(write: (lines: string) => void): ServerLog {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    const ready = lines.replace(keys, redacted);
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
    logger: pino({ base: null, timestamp: stdTimeFunctions.isoTime, formatters }, destination),
    flush,
  };
}

/** A text without the key that it came with, whatever form that has. */
export function withoutKey(text: string, apiKey: string): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, redacted);
}
