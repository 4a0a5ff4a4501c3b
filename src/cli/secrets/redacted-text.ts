// Recognises a text from which a redaction has removed parts.
const mark = /\[redacted \w+\]/;

/** True if `redacted` is the text with marks instead of some of its parts, or the text itself. */
export function isRedactionOf(redacted: string, text: string): boolean {
  if (redacted === text) return true;
  const [first = '', ...others] = redacted.split(mark);
  const last = others.pop();
  if (last === undefined || !text.startsWith(first)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end && text.endsWith(last);
}

export function hasRedaction(text: string): boolean {
  return mark.test(text);
}
