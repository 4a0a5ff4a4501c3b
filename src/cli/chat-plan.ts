// What `parley chat` will do, from what is asked of it and what stands: a turn, or a conversation with the person who is there. Pure.
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
  /** Tell the tokens that the turn took. */
  readonly usage: boolean;
  /** Show the model's notes to itself. */
  readonly reasoning: boolean;
  /** The key of a turn that failed, to repeat that one; null for a new turn. */
  readonly idempotencyKey: string | null;
  /** No Markdown styling. */
  readonly raw: boolean;
  /** Which fenced block of the reply is printed in its place; null for the whole reply. */
  readonly extractCode: WhichBlock | null;
}

/** What stands when the command starts. */
export interface ChatCircumstances {
  /** The global option for JSON was given. */
  readonly json: boolean;
  /** Stdin is something to read to its end. */
  readonly stdinIsFed: boolean;
  /** A person is there to type and to read. Asked only when it matters: to look at stdin takes time. */
  readonly canConverse: () => boolean;
}

export type ChatPlan =
  | { readonly kind: 'conversation'; readonly repl: ReplInput }
  | {
      readonly kind: 'turn';
      readonly format: ChatFormat;
      /** The option that asks for JSON; null where none does. */
      readonly jsonFlag: JsonFlag | null;
      /** True when the words alone are not the message: files or stdin go into it. */
      readonly hasMore: boolean;
    };

export type JsonFlag = '--json' | '--json-stream';

/** Throws `USAGE` for options that cannot be used together. */
export function planChat(input: ChatInput, { json, stdinIsFed, canConverse }: ChatCircumstances): ChatPlan {
  const jsonFlag = json ? '--json' : input.jsonStream ? '--json-stream' : null;
  checkTogether(input, json, jsonFlag);
  const { words, files, stdin, session, mode, raw } = input;
  const format = formatOf(input, json);
  const isBare = words.length === 0 && files.length === 0 && input.title === null;
  // Nothing to send, and somebody there to say it.
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
  if (input.extractCode !== null && jsonFlag !== null) {
    throw new ParleyError('USAGE', `--extract-code and ${jsonFlag} cannot be used together.`, {
      hint: 'Choose the block, or the answer whole.',
    });
  }
}

function formatOf({ jsonStream, extractCode, stream }: ChatInput, json: boolean): ChatFormat {
  if (json) return 'json';
  if (jsonStream) return 'events';
  if (extractCode !== null) return `${extractCode} block`;
  return stream ? 'text' : 'whole';
}
