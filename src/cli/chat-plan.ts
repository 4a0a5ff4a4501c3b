// Plans `parley chat` from its options and its circumstances: one turn, or a conversation with the person at the terminal. The code is
// pure.
import { ParleyError } from '../service/errors.ts';
import type { MessageSources } from './chat-message.ts';
import type { ChatFormat } from './chat-output.ts';
import type { ReplInput } from './repl/open-repl.ts';
import type { SessionFlags } from './session-choice.ts';
import type { WhichBlock } from './terminal/markdown/fenced-block.ts';
import { idsFromWords } from './terminal/session-ids.ts';

export interface ChatInput extends MessageSources, SessionFlags {
  readonly mode: string | null;
  readonly title: string | null;
  readonly stream: boolean;
  readonly jsonStream: boolean;
  /** True: the tokens of the turn are written. */
  readonly usage: boolean;
  /** True: the model's notes are shown. */
  readonly reasoning: boolean;
  /** The key of a failed turn, which is then repeated; null for a new turn. */
  readonly idempotencyKey: string | null;
  /** True: replies get no Markdown styling. */
  readonly raw: boolean;
  /** The fenced block that is printed in place of the reply; null for the whole reply. */
  readonly extractCode: WhichBlock | null;
  /** The file of the JSON Schema that the reply must match; null for a reply of any form. */
  readonly schema: string | null;
  /** How often a reply that does not match is asked for again. */
  readonly repairs: number;
}

/** What the plan depends on besides the options. */
export interface ChatCircumstances {
  /** True if the global option for JSON is set. */
  readonly json: boolean;
  /** True if stdin is a pipe, a socket or a file. */
  readonly stdinIsFed: boolean;
  /** True if a person can type and read. A function, because the look at stdin takes time and is rarely needed. */
  readonly canConverse: () => boolean;
}

export type ChatPlan =
  | { readonly kind: 'conversation'; readonly repl: ReplInput }
  | {
      readonly kind: 'turn';
      readonly format: ChatFormat;
      /** The option that asks for JSON; null if there is none. */
      readonly jsonFlag: JsonFlag | null;
      /** True if files or stdin are a part of the message. */
      readonly hasMore: boolean;
    };

export type JsonFlag = '--json' | '--json-stream';

/** Throws `USAGE` for options that exclude each other. */
export function planChat(input: ChatInput, { json, stdinIsFed, canConverse }: ChatCircumstances): ChatPlan {
  const jsonFlag = json ? '--json' : input.jsonStream ? '--json-stream' : null;
  checkTogether(input, json, jsonFlag);
  const { words, files, stdin, session, mode, raw } = input;
  const format = formatOf(input, json);
  const isBare = words.length === 0 && files.length === 0 && input.title === null;
  // There is nothing to send, and a person can type it.
  if (isBare && format === 'text' && !stdinIsFed && canConverse()) {
    return { kind: 'conversation', repl: { session, continue: input.continue, mode, raw } };
  }
  const hasMore = files.length > 0 || (stdin && stdinIsFed) || words.join(' ') === '-';
  return { kind: 'turn', format, jsonFlag, hasMore };
}

function checkTogether(input: ChatInput, json: boolean, jsonFlag: JsonFlag | null): void {
  const choices = [input.session !== null && '-s', input.continue && '-c', input.title !== null && '--title'];
  const [one, other] = choices.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  if (input.session !== null) idsFromWords([input.session]);
  if (input.jsonStream && json) {
    throw new ParleyError('USAGE', '--json and --json-stream cannot be used together.');
  }
  if (input.extractCode !== null && input.schema !== null)
    throw new ParleyError('USAGE', '--extract-code and --schema cannot be used together.', {
      hint: 'With --schema, the JSON of a fenced block is found without it.',
    });
  if (input.extractCode !== null && jsonFlag !== null) {
    throw new ParleyError('USAGE', `--extract-code and ${jsonFlag} cannot be used together.`, {
      hint: 'Choose the block, or the answer whole.',
    });
  }
}

function formatOf({ jsonStream, extractCode, stream, schema }: ChatInput, json: boolean): ChatFormat {
  if (json) return 'json';
  if (jsonStream) return 'events';
  if (extractCode !== null) return `${extractCode} block`;
  return stream && schema === null ? 'text' : 'whole';
}
