// What comes in from the keyboard, and what a line editor answers with: the words that its parts share.
import type { LineState } from './line-state.ts';

/** As node:readline tells a key. */
export interface Key {
  readonly name: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  /** What arrived for it. */
  readonly sequence: string;
}

export type LineInput =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'paste'; readonly text: string };

/**
 * `submit`: the line is complete. `interrupt`: Ctrl-C. `leave`: Ctrl-D on an empty line. `bell`: there was nothing to do it with. The
 * others name what the reader does.
 */
export type Action =
  | 'none'
  | 'submit'
  | 'interrupt'
  | 'leave'
  | 'bell'
  | 'complete'
  | 'suspend'
  | 'clear-screen'
  | 'open-editor';

export interface Edited {
  readonly state: LineState;
  readonly action: Action;
}

/** `ctrl-a`, `alt-return`, `left`. */
export function keyName({ name, ctrl, meta, sequence }: Key): string {
  if (sequence === '\x1f') return 'ctrl-_';
  return `${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${name}`;
}

/** False for a control character, and for a key without a text of its own. */
export function isText({ ctrl, meta, sequence }: Key): boolean {
  return !ctrl && !meta && sequence !== '' && !/\p{Cc}/u.test(sequence);
}

export const interruptKey: LineInput = {
  kind: 'key',
  key: { name: 'c', ctrl: true, meta: false, sequence: '\x03' },
};

export function isInterrupt(input: LineInput): boolean {
  return input.kind === 'key' && input.key.ctrl && input.key.name === 'c';
}
