// Plans `parley chat` from its options and its circumstances: one turn, or a conversation with the person at the terminal. The code is
// pure.
import { ParleyError } from '../service/errors.ts';
import type { MessageSources } from './chat-message.ts';
import type { ChatFormat } from './chat-output.ts';
import { aboutContinuing, requireNothingKept } from './ephemeral-option.ts';
import type { ReplInput } from './repl/open-repl.ts';
import type { SessionFlags } from './session-choice.ts';
import { requireReference } from './session-reference.ts';
import { hasSettings, type SettingFlags } from './setting-options.ts';
import type { TemplateChoice } from './template-values.ts';
import type { WhichBlock } from './terminal/markdown/fenced-block.ts';
import type { MarkdownChoice } from './terminal/reply-writer.ts';

export interface ChatInput extends MessageSources, SessionFlags, TemplateChoice {
  readonly mode: string | null;
  readonly settings: SettingFlags;
  /** True: another reply to the last message of the session, in place of a message. */
  readonly regenerate: boolean;
  /** True: the turn is for a copy of the session. */
  readonly fork: boolean;
  /** True: no text of the turn is kept. */
  readonly ephemeral: boolean;
  readonly title: string | null;
  /** The person whose session it is or becomes; null for nobody, and for anybody. */
  readonly user: string | null;
  readonly stream: boolean;
  readonly jsonStream: boolean;
  /** True: the tokens of the turn are written. */
  readonly usage: boolean;
  /** True: the model's notes are shown. */
  readonly reasoning: boolean;
  /** The key of a failed turn, which is then repeated; null for a new turn. */
  readonly idempotencyKey: string | null;
  readonly markdown: MarkdownChoice;
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
      /** True if the words are not all of the turn: files, stdin, a template or settings are a part of it. */
      readonly hasMore: boolean;
    };

export type JsonFlag = '--json' | '--json-stream';

/** Throws `USAGE` for options that exclude each other. */
export function planChat(input: ChatInput, { json, stdinIsFed, canConverse }: ChatCircumstances): ChatPlan {
  const jsonFlag = json ? '--json' : input.jsonStream ? '--json-stream' : null;
  checkTogether(input, json, jsonFlag);
  const { words, files, stdin, mode, markdown, settings, template, session, user, fork, ephemeral } = input;
  const format = formatOf(input, json);
  const hasWords = words.length > 0 || files.length > 0;
  const isBare = !hasWords && !input.regenerate && input.title === null && template === null;
  // There is nothing to send, and a person can type it.
  if (isBare && format === 'text' && !stdinIsFed && canConverse()) {
    return {
      kind: 'conversation',
      repl: { session, continue: input.continue, mode, markdown, settings, user, fork, ephemeral },
    };
  }
  const hasOther = files.length > 0 || (stdin && stdinIsFed) || words.join(' ') === '-';
  const hasMore = hasOther || template !== null || hasSettings(settings) || fork;
  return { kind: 'turn', format, jsonFlag, hasMore };
}

function checkTogether(input: ChatInput, json: boolean, jsonFlag: JsonFlag | null): void {
  requireNothingKept(input.ephemeral, [
    ['-s', input.session !== null, aboutContinuing],
    ['-c', input.continue, aboutContinuing],
    ['--fork', input.fork, aboutContinuing],
    ['--regenerate', input.regenerate, aboutContinuing],
    ['--title', input.title !== null, 'There is no session afterwards that could have a title.'],
    ['--idempotency-key', input.idempotencyKey !== null, 'No turn is kept that could be repeated.'],
  ]);
  const choices = [
    input.session !== null && '-s',
    input.continue && '-c',
    // A copy is a new session.
    input.title !== null && !input.fork && '--title',
  ];
  const [one, other] = choices.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  checkLastTurn(input, one === '-s' || one === '-c');
  if (input.session !== null) requireReference(input.session);
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

/** `--regenerate` and `--fork` are for a session that exists, and a regeneration has no message. */
function checkLastTurn(input: ChatInput, hasSession: boolean): void {
  const { regenerate, fork, words, files, title, template } = input;
  const flag = regenerate ? '--regenerate' : fork ? '--fork' : null;
  if (flag === null) return;
  if (!hasSession) {
    throw new ParleyError('USAGE', `${flag} needs a session.`, {
      hint: 'Name it with -s, or take the last one with -c.',
    });
  }
  if (input.user !== null) {
    throw new ParleyError('USAGE', `--user and ${flag} cannot be used together.`, {
      hint: 'The session keeps the person whose it is, and so does a copy of it.',
    });
  }
  const message = [
    words.length > 0 && 'A message',
    files.length > 0 && '-f',
    title !== null && '--title',
    template !== null && '-t',
    fork && '--fork',
  ].find(Boolean);
  if (regenerate && message) {
    throw new ParleyError('USAGE', `${message} and --regenerate cannot be used together.`, {
      hint: '--regenerate asks for another reply to the last message of the session.',
    });
  }
}

function formatOf({ jsonStream, extractCode, stream, schema }: ChatInput, json: boolean): ChatFormat {
  if (json) return 'json';
  if (jsonStream) return 'events';
  if (extractCode !== null) return `${extractCode} block`;
  return stream && schema === null ? 'text' : 'whole';
}
