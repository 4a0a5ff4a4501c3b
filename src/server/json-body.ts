// Parses a JSON body in steps of a few milliseconds, so that a long body does not block other requests. The bounds of the body are checked
// first. Then its long lists are parsed part by part.
import { type JsonBounds, JsonScan, type LongList } from './json-scan.ts';
import { unknownField } from './request-shape.ts';

/** The sizes of the steps, in bytes. */
interface JsonSteps {
  /** A body of at most this length is parsed in one step. */
  readonly shortBytes: number;
  /** The bytes that are scanned, or decoded, in one step. */
  readonly scanBytes: number;
  /** The fewest bytes of a list that are parsed in one step. The step ends at the end of an item. */
  readonly partBytes: number;
}

const openingBracket = 0x5b;
const closingBracket = 0x5d;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const defaultSteps: JsonSteps = { shortBytes: 1024, scanBytes: 512 * 1024, partBytes: 16 * 1024 };

/**
 * Throws a `SyntaxError` for text that is not JSON, a `TypeError` for bytes that are not UTF-8, and `INVALID_REQUEST` for a body over its
 * bounds.
 */
export async function parseJsonBody(
  bytes: Uint8Array,
  bounds: JsonBounds,
  pause: () => Promise<void>,
  { shortBytes, scanBytes, partBytes }: JsonSteps = defaultSteps,
): Promise<unknown> {
  if (bytes.length <= shortBytes) return JSON.parse(utf8.decode(bytes));
  const scan = new JsonScan(bytes, bounds, partBytes);
  for (;;) {
    scan.advance(scanBytes);
    if (scan.isDone) break;
    await pause();
  }
  const lists = scan.longLists;
  const textOf = (from: number, to: number) => decode(bytes.subarray(from, to), from > 0, scanBytes, pause);
  const whole: unknown = JSON.parse(await outlineOf(lists, bytes.length, textOf));
  if (typeof whole !== 'object' || whole === null) return whole;
  for (const list of lists) {
    Object.defineProperty(whole, list.field, {
      value: await itemsOf(list, bounds.lists[list.field]?.names ?? null, { bytes, textOf, pause }),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return whole;
}

type TextOf = (from: number, to: number) => Promise<string>;

/** The text of the body with empty lists in place of the long ones. */
async function outlineOf(lists: readonly LongList[], length: number, textOf: TextOf): Promise<string> {
  let outline = '';
  let at = 0;
  for (const { start, end } of lists) {
    outline += await textOf(at, start);
    at = end;
  }
  return outline + (await textOf(at, length));
}

interface PartReading {
  readonly bytes: Uint8Array;
  readonly textOf: TextOf;
  readonly pause: () => Promise<void>;
}

async function itemsOf(
  { field, start, end, cuts }: LongList,
  names: ReadonlySet<string> | null,
  { bytes, textOf, pause }: PartReading,
): Promise<unknown[]> {
  const items: unknown[] = [];
  let from = start;
  for (const to of [...cuts, end]) {
    await pause();
    // The commas around the part are replaced by brackets for a moment. Adding brackets to the text would copy the text.
    const [before = 0, after = 0] = [bytes[from - 1], bytes[to]];
    bytes.set([openingBracket], from - 1);
    bytes.set([closingBracket], to);
    const text = await textOf(from - 1, to + 1);
    bytes.set([before], from - 1);
    bytes.set([after], to);
    const part: unknown[] = JSON.parse(text);
    // An empty part means that the list has two commas in a row, or a trailing comma.
    if (part.length === 0) throw new SyntaxError('A list has an extra comma.');
    for (const item of part) {
      // The names are checked before the next part is parsed, because objects with many different names take many times their bytes.
      const unknown = names && unknownName(item, names);
      if (unknown !== null) throw unknownField(`${field}[${items.length}]`, unknown);
      items.push(item);
    }
    from = to + 1;
  }
  return items;
}

/** The path of the first name that is not in `names`, in the value or inside its fields; null if there is none. */
function unknownName(value: unknown, names: ReadonlySet<string>): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const isList = Array.isArray(value);
  // `for … in` creates no array of the names and values, as `Object.entries` does.
  for (const name in value) {
    if (!isList && !names.has(name)) return name;
    const inner = unknownName(Reflect.get(value, name), names);
    if (inner !== null) return `${name}.${inner}`;
  }
  return null;
}

/** The decoder drops a byte order mark at the beginning of the body. Elsewhere the mark is an error, or part of a string. */
async function decode(
  bytes: Uint8Array,
  ignoreBOM: boolean,
  stepBytes: number,
  pause: () => Promise<void>,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM });
  let text = '';
  let at = 0;
  for (; bytes.length - at > stepBytes; at += stepBytes) {
    text += decoder.decode(bytes.subarray(at, at + stepBytes), { stream: true });
    await pause();
  }
  return text + decoder.decode(bytes.subarray(at));
}
