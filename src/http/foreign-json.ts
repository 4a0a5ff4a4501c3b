// JSON that another program wrote: parsed within limits, and read without trust in its shape. A value takes far more memory than its text,
// and a deep value needs more stack than there is. A text that would become such a value is therefore refused before it is parsed.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Null for anything that is not an object of JSON. */
export function objectOrNull(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The value of an object's own field; null if the field is missing or the value is no object. */
export function fieldOf(value: unknown, name: string): unknown {
  const object = objectOrNull(value);
  return object !== null && Object.hasOwn(object, name) ? object[name] : null;
}

/** Null for an empty text, and for anything that is not a text. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Empty for anything that is not a text. */
export function textOf(value: unknown): string {
  return textOrNull(value) ?? '';
}

/** The first of several values that is a text and not empty. */
export function firstText(...values: readonly unknown[]): string | null {
  return values.map(textOrNull).find((text) => text !== null) ?? null;
}

/** Nesting deeper than in any response of an API. */
const mostDepth = 500;
/** The most objects, lists and members of them. A page of 200 messages has a few thousand. */
const mostParts = 1_000_000;

/** `undefined` for a text that is not JSON, or too deep, or of too many parts. */
export function parseJson(text: string): unknown {
  if (!isModest(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for a text within both limits. For a text that is not JSON the result has no meaning. */
function isModest(text: string): boolean {
  if (text.length <= mostDepth) return true;
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
        if (depth > mostDepth) return false;
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
      case ',':
        parts += 1;
        break;
    }
    if (parts > mostParts) return false;
  }
  return true;
}

/** The place of the closing quotation mark; -1 if there is none. `start` is the place of the opening one. */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (end >= 0 && text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}
