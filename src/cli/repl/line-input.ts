// The input and output of the line editor: keys and pastes, and the actions that it requests.
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
 * The action that a reader performs after a key. `submit`: the line is complete. `interrupt`: Ctrl-C. `leave`: Ctrl-D on an empty line.
 * `bell`: the key had no effect.
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

export interface EditResult {
  readonly state: LineState;
  readonly action: Action;
}

/** The name of a key, such as `ctrl-a`, `alt-return` or `left`. */
export function keyName({ name, ctrl, meta, sequence }: Key): string {
  if (sequence === '\x1f') return 'ctrl-_';
  return `${ctrl ? 'ctrl-' : ''}${meta ? 'alt-' : ''}${name}`;
}

/** True for a key that types text. False for control characters and function keys. */
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
