// The types of a line editor: the keys and pastes that it takes, and the actions that it asks for.
import type { LineState } from './line-state.ts';

/** A key as node:readline reports it. */
export interface Key {
  readonly name: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  /** The characters that arrived for the key. */
  readonly sequence: string;
}

export type LineInput =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'paste'; readonly text: string };

/**
 * `submit`: the line is complete. `interrupt`: Ctrl-C. `leave`: Ctrl-D on an empty line. `bell`: the key had no effect. The other names
 * say what the reader does.
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

/** The name of a key, such as `ctrl-a`, `alt-return` or `left`. */
export function keyName({ name, ctrl, meta, sequence }: Key): string {
  if (sequence === '\x1f') return 'ctrl-_';
  return `${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${name}`;
}

/** False for a control character, and for a key without text. */
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

export function isTab(input: LineInput): boolean {
  return input.kind === 'key' && keyName(input.key) === 'tab';
}
