// The texts in lines of the user of Claude Code. Tags mark those that the program wrote: commands as the user typed them, what commands printed,
// and reminders for the model.
import type { Part } from '../conversation.ts';

const hidden = /^\s*<(system-reminder|local-command-caveat)>/;
const interruption = /^\[Request interrupted by user( for tool use)?\]$/;
const printed = /^\s*<(local-command-stdout|local-command-stderr|bash-stdout|bash-stderr|task-notification)>/;
const outputTags = /<\/?(?:local-command|bash)-std(?:out|err)>/g;

/** The output of a command becomes a result, as that of a tool. */
export function partsOfUserText(text: string): readonly Part[] {
  if (hidden.test(text) || isInterruption(text)) return [];
  if (printed.test(text))
    return [{ kind: 'result', name: null, text: text.replace(outputTags, '\n').trim() }];
  return [{ kind: 'text', text: commandIn(text) ?? text }];
}

/** True for the text that the program adds when the user stops a reply. */
export function isInterruption(text: string): boolean {
  return interruption.test(text);
}

/** A command as the user typed it, such as `/review FILE` or `!ls`. Null for any other text. */
function commandIn(text: string): string | null {
  if (!/^\s*<(command-|bash-input>)/.test(text)) return null;
  const shell = textBetween(text, '<bash-input>', '</bash-input>');
  if (shell !== null) return `!${shell}`;
  const name = textBetween(text, '<command-name>', '</command-name>');
  const values = textBetween(text, '<command-args>', '</command-args>') ?? '';
  return name === null ? null : `${name} ${values}`.trim();
}

function textBetween(text: string, start: string, end: string): string | null {
  const from = text.indexOf(start);
  const to = from === -1 ? -1 : text.indexOf(end, from);
  return to === -1 ? null : text.slice(from + start.length, to);
}
