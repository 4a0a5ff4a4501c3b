// The text of an imported message. Texts stay unchanged. Tool calls, their results and reasoning become short quoted notes, which people and
// models read as quotations. An attachment becomes its name and its text.
import type { Part } from './conversation.ts';
import { importLimits } from './import-limits.ts';

/** `messagesOnly` leaves out notes and the texts of attachments. */
export function messageText(parts: readonly Part[], messagesOnly: boolean): string {
  const texts: string[] = [];
  for (const part of parts) {
    const text = partText(part, messagesOnly);
    if (text !== null && text.trim() !== '') texts.push(text);
  }
  // Lone surrogates and NUL cannot be stored.
  return texts.join('\n\n').toWellFormed().replaceAll('\0', '\ufffd');
}

function partText(part: Part, messagesOnly: boolean): string | null {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'attachment': {
      const head = `[attachment: ${oneLine(part.name)}]`;
      if (messagesOnly || part.text === null || part.text.trim() === '') return head;
      return `${head}\n${fence(shorten(part.text, importLimits.attachmentCharacters))}`;
    }
    case 'thinking':
      return messagesOnly || part.text.trim() === '' ? null : note('thinking', part.text);
    case 'tool':
      return messagesOnly ? null : note(`tool: ${oneLine(part.name)}`, part.input);
    case 'result':
      return messagesOnly
        ? null
        : note(part.name === null ? 'result' : `result: ${oneLine(part.name)}`, part.text);
  }
}

function note(head: string, text: string): string {
  const shown = shorten(text.trim(), importLimits.noteCharacters);
  const lines = shown === '' ? [] : shown.split(/\r?\n/);
  return [
    `> [${head}]${lines.length === 1 ? ` ${lines[0]}` : ''}`,
    ...(lines.length > 1 ? lines.map((line) => `> ${line}`) : []),
  ].join('\n');
}

/** The beginning of a long text, with its original length. */
function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)} … (${text.length} characters in all)`;
}

function oneLine(name: string): string {
  return name
    .replace(/[\p{C}\s[\]]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

function fence(text: string): string {
  const longestRun = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longestRun + 1);
  return `${marks}\n${text}\n${marks}`;
}
