// JSON that somebody else wrote. A value takes far more memory than its text, and a deep one more stack than there is: a text that would
// become such a value is refused before it is parsed.

/** Deeper than any answer of an API. */
const mostDepth = 500;
/** Objects, lists, and their members: a page of 200 messages has a few thousand. */
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

/** Whether the text stays within both limits; of a text that is not JSON this says nothing. */
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

/** The place of the closing quotation mark; -1 where there is none. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (end >= 0 && text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}
