// The few macros of man(7) that the manual page needs. Text is escaped, so that troff prints it unchanged.

/** A heading and the text below it. */
export function section(title: string, body: string): string {
  return `.SH ${quoted(title)}\n${body}`;
}

export function subsection(title: string, body: string): string {
  return `.SS ${quoted(title)}\n${body}`;
}

/** A term, and its description indented below it. */
export function entry(term: string, text: string): string {
  return `.TP\n.B ${quoted(term)}\n${line(text)}`;
}

/** Lines that troff neither fills nor joins. */
export function verbatim(text: string): string {
  return `.RS 2\n.nf\n${text.trimEnd().split('\n').map(line).join('')}.fi\n.RE\n`;
}

export function line(text: string): string {
  // A line that begins with a dot or an apostrophe would be a request.
  return `${escaped(text).replace(/^(?=[.'])/, '\\&')}\n`;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga')
    .replace(/[^\n -~]/gu, (character) => `\\[u${hexadecimal(character)}]`);
}

function hexadecimal(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
