// The text that a message of another program gets in the archive. What was said stays as it is. A tool call, its result and thinking become
// short quoted notes, which terminals and pages show as quotations and models read as such; an attachment becomes its name, and its text.
import type { Part } from './conversation.ts';
import { importLimits } from './import-limits.ts';

/** `messagesOnly`: without notes and without the texts of attachments. */
export function messageText(parts: readonly Part[], messagesOnly: boolean): string {
  const texts: string[] = [];
  for (const part of parts) {
    const text = partText(part, messagesOnly);
    if (text !== null && text.trim() !== '') texts.push(text);
  }
  // Neither a lone surrogate nor NUL can be stored.
  return texts.join('\n\n').toWellFormed().replaceAll('\0', '\ufffd');
}

function partText(part: Part, messagesOnly: boolean): string | null {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'attachment': {
      const head = `[attachment: ${oneLine(part.name)}]`;
      if (messagesOnly || part.text === null || part.text.trim() === '') return head;
      return `${head}\n${fenced(folded(part.text, importLimits.attachmentCharacters))}`;
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
  const shown = folded(text.trim(), importLimits.noteCharacters);
  const lines = shown === '' ? [] : shown.split(/\r?\n/);
  return [
    `> [${head}]${lines.length === 1 ? ` ${lines[0]}` : ''}`,
    ...(lines.length > 1 ? lines.map((line) => `> ${line}`) : []),
  ].join('\n');
}

/** The beginning of a long text, and how long it was. */
function folded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)} … (${text.length} characters in all)`;
}

function oneLine(name: string): string {
  return name
    .replace(/[\p{C}\s[\]]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
