// The log of a server: a line per request and per problem. The log contains no key, no query, no text of a chat, and no control characters
// for a terminal.
import { type Logger, pino } from 'pino';
import { toTime } from '../service/iso-time.ts';

export interface ServerLog {
  readonly logger: Pick<Logger, 'info' | 'error' | 'warn'>;
  /** Writes the buffered lines. Lines are written together, several times per second, because each write costs as much as several lines. */
  flush(): void;
}

/** The beginning of this service's keys. Most lines do not contain it. */
const keyPrefix = /pk_/i;
/** A key without its end is redacted too, because its last six characters can be computed from the others. */
const keys = /pk_[0-9A-Za-z]{8,}/gi;
/** A key in a path. Up to two other characters may stand between those of the key, for example if it was broken into lines. */
const keysInPath = /pk_(?:[^0-9A-Za-z]{0,2}[0-9A-Za-z]){8,33}/gi;
const redacted = '[key]';

/** The characters that JSON does not escape and that can control a terminal, reorder text or end a line. */
const dangerous = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

const flushMs = 50;
const maxBuffered = 64 * 1024;

/** `write` gets whole lines. `now` returns epoch milliseconds. `format` turns a line of JSON into another line. */
export function serverLog(
  write: (lines: string) => void,
  now: () => number,
  format: (line: string) => string = (line) => line,
): ServerLog {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    const safe = lines.replace(dangerous, escapeJson);
    const ready = keyPrefix.test(safe) ? safe.replace(keys, redacted) : safe;
    lines = '';
    if (ready !== '') write(ready);
  };
  const destination = {
    write(line: string) {
      if (lines === '') timer = setTimeout(flush, flushMs);
      lines += format(line);
      if (lines.length > maxBuffered) flush();
    },
  };
  const formatters = { level: (label: string) => ({ level: label }) };
  return {
    logger: pino({ base: null, timestamp: timestamps(now), formatters }, destination),
    flush,
  };
}

/** An escape of JSON, so that a line of JSON keeps its meaning. */
function escapeJson(characters: string): string {
  return characters.replace(
    /./gs,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The time as a member of a line. It is formatted once per millisecond, in which a busy server writes many lines. */
function timestamps(now: () => number): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const time = now();
    if (time !== last) text = `,"time":"${toTime(time)}"`;
    last = time;
    return text;
  };
}

/** The most layers of percent-encoding that are decoded. A path with more layers is not logged. */
const maxLayers = 5;

/** A path without keys of this service, at any layer of percent-encoding, and without the key of the request, whatever its form. */
export function withoutKeys(path: string, apiKey: string): string {
  const mayHaveKey = path.includes('%') || keyPrefix.test(path) || (apiKey !== '' && path.includes(apiKey));
  if (!mayHaveKey) return path;
  let text = path;
  let hasKey = false;
  for (let layer = 0; layer <= maxLayers; layer += 1) {
    const clean = (apiKey === '' ? text : text.replaceAll(apiKey, redacted)).replace(keysInPath, redacted);
    hasKey ||= clean !== text;
    const decodedPath = percentDecode(clean);
    if (decodedPath === clean) return hasKey ? percentEncode(clean) : path;
    text = decodedPath;
  }
  return '[encoded]';
}

/** Encodes a decoded path, which may hold any byte. The result cannot control a terminal, and its line stays valid JSON. */
function percentEncode(text: string): string {
  return text.replace(
    /[^!-~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
}

/** Bytes that are not percent-encoded stay as they are. */
function percentDecode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('latin1'),
  );
}
