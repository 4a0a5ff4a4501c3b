// Reads JSON of other programs: it is parsed within limits, and its shape is not trusted. A value takes far more memory than its text, and a
// deeply nested value can exhaust the stack. A text over the limits is therefore refused before it is parsed.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Null for anything that is not a JSON object. */
export function objectOrNull(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The value of an object's own field; null if the field is missing or the value is not an object. */
export function fieldOf(value: unknown, name: string): unknown {
  const object = objectOrNull(value);
  return object !== null && Object.hasOwn(object, name) ? object[name] : null;
}

/** Null for an empty string, and for anything that is not a string. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Empty for anything that is not a string. */
export function textOf(value: unknown): string {
  return textOrNull(value) ?? '';
}

/** The first value that is a non-empty string; null if there is none. */
export function firstText(...values: readonly unknown[]): string | null {
  return values.map(textOrNull).find((text) => text !== null) ?? null;
}

/** The deepest nesting. No response of an API nests deeper. */
const maxDepth = 500;
/** The most objects, arrays and members. A page of 200 messages has a few thousand. */
const maxParts = 1_000_000;

/** Returns `undefined` for a text that is not JSON or exceeds a limit. */
export function parseJson(text: string): unknown {
  if (!isWithinLimits(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As {@link parseJson}. `NaN`, `Infinity` and `-Infinity`, which Python's `json` writes and JSON lacks, become null. */
export function parsePythonJson(text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined || !/NaN|Infinity/.test(text)) return value;
  return parseJson(outsideStrings(text, (part) => part.replace(/-?\b(NaN|Infinity)\b/g, 'null')));
}

/** True for a text within both limits. For a text that is not JSON the result has no meaning. */
function isWithinLimits(text: string): boolean {
  if (text.length <= maxDepth) return true;
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        if (at < 0) return true;
        break;
      case '[':
      case '{':
        depth += 1;
        parts += 1;
        if (depth > maxDepth) return false;
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
      case ',':
        parts += 1;
        break;
    }
    if (parts > maxParts) return false;
  }
  return true;
}

/** Changes the parts of JSON between its strings. A regular expression for strings would exhaust the stack at long ones. */
export function outsideStrings(json: string, change: (part: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', at)) {
    const end = endOfString(json, start) + 1;
    if (end === 0) break;
    parts.push(change(json.slice(at, start)), json.slice(start, end));
    at = end;
  }
  return parts.join('') + change(json.slice(at));
}

/** The index of the closing quotation mark; -1 if there is none. `start` is the index of the opening one. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (end >= 0 && text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}
