// Makes a value of a JSON body in steps of a few milliseconds, so that a long body keeps nobody else waiting: its bounds are checked
// first, then long lists are parsed part by part.
import { type JsonBounds, JsonScan, type LongList } from './json-scan.ts';
import { unknownField } from './request-shape.ts';

/** The steps that a body is read in, in bytes. */
export interface JsonSteps {
  /** A body that is no longer is parsed at once. */
  readonly short: number;
  /** Scanned, or decoded, at a time. */
  readonly scanned: number;
  /** Of a list, parsed at a time, or one item more. */
  readonly part: number;
}

const usualSteps: JsonSteps = { short: 1024, scanned: 512 * 1024, part: 16 * 1024 };

/** Throws a `SyntaxError` for what is not JSON, a `TypeError` for what is not UTF-8, and the refusal of a body over its bounds. */
export async function parseJsonBody(
  bytes: Uint8Array,
  bounds: JsonBounds,
  pause: () => Promise<void>,
  { short, scanned, part }: JsonSteps = usualSteps,
): Promise<unknown> {
  const textOf = (from: number, to: number) => decoded(bytes.subarray(from, to), from > 0, scanned, pause);
  if (bytes.length <= short) return JSON.parse(await textOf(0, bytes.length));
  const scan = new JsonScan(bytes, bounds, part);
  for (;;) {
    scan.advance(scanned);
    if (scan.isDone) break;
    await pause();
  }
  const lists = scan.longLists;
  const whole: unknown = JSON.parse(await outlineOf(lists, bytes.length, textOf));
  if (typeof whole !== 'object' || whole === null) return whole;
  for (const list of lists) {
    Object.defineProperty(whole, list.field, {
      value: await itemsOf(list, bounds.lists[list.field]?.names ?? null, textOf, pause),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return whole;
}

type TextOf = (from: number, to: number) => Promise<string>;

/** The text with nothing in its long lists. */
async function outlineOf(lists: readonly LongList[], length: number, textOf: TextOf): Promise<string> {
  let outline = '';
  let at = 0;
  for (const { start, end } of lists) {
    outline += await textOf(at, start);
    at = end;
  }
  return outline + (await textOf(at, length));
}

async function itemsOf(
  { field, start, end, cuts }: LongList,
  names: ReadonlySet<string> | null,
  textOf: TextOf,
  pause: () => Promise<void>,
): Promise<unknown[]> {
  const items: unknown[] = [];
  let from = start;
  for (const to of [...cuts, end]) {
    await pause();
    const part: unknown[] = JSON.parse(`[${await textOf(from, to)}]`);
    // Nothing stands between two commas, or after the last.
    if (part.length === 0) throw new SyntaxError('A list has a comma too many.');
    for (const item of part) {
      // Before the next part is parsed: objects with ever-new names take many times their bytes.
      if (names !== null) checkNames(item, names, `${field}[${items.length}]`);
      items.push(item);
    }
    from = to + 1;
  }
  return items;
}

function checkNames(value: unknown, names: ReadonlySet<string>, place: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && !names.has(name)) throw unknownField(place, name);
    checkNames(inner, names, `${place}.${name}`);
  }
}

/** A byte order mark is dropped at the beginning of a body; anywhere else it is a fault, or part of a text. */
async function decoded(
  bytes: Uint8Array,
  ignoreBOM: boolean,
  atOnce: number,
  pause: () => Promise<void>,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM });
  let text = '';
  let at = 0;
  for (; bytes.length - at > atOnce; at += atOnce) {
    text += decoder.decode(bytes.subarray(at, at + atOnce), { stream: true });
    await pause();
  }
  return text + decoder.decode(bytes.subarray(at));
}
