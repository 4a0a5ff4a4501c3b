// Plans `parley chat` from its options and environment: one turn, or a conversation with the person at the terminal. The code is pure.
import { ParleyError } from '../service/errors.ts';
import type { MessageSources } from './chat-message.ts';
import type { ChatFormat } from './chat-output.ts';
import { checkEphemeralConflicts, continuingHint } from './ephemeral-option.ts';
import type { SessionFlags } from './session-choice.ts';
import { requireReference } from './session-reference.ts';
import { hasSettings, type SettingFlags } from './setting-options.ts';
import type { TemplateChoice } from './template-values.ts';
import type { WhichBlock } from './terminal/markdown/fenced-block.ts';
import type { MarkdownChoice } from './terminal/reply-writer.ts';

/** The words and the options of a chat. */
export interface ChatInput extends MessageSources, SessionFlags, TemplateChoice, SettingFlags {
  readonly mode?: string;
  /** Requests another reply to the last message of the session. There is no new message then. */
  readonly regenerate?: true;
  /** Continues a copy of the session. */
  readonly fork?: true;
  /** Keeps no text of the turn. */
  readonly ephemeral?: true;
  readonly title?: string;
  /** The user that the session belongs to. Without it, a new session has no user and an existing one may have any. */
  readonly user?: string;
  readonly stream: boolean;
  readonly jsonStream?: true;
  /** Prints the tokens of the turn. */
  readonly usage?: true;
  /** Shows the model's reasoning. */
  readonly reasoning?: true;
  /** The key of the failed turn to repeat. */
  readonly idempotencyKey?: string;
  readonly markdown: MarkdownChoice;
  /** The fenced block to print instead of the whole reply. */
  readonly extractCode?: WhichBlock;
  /** The file of the JSON Schema that the reply must match. */
  readonly schema?: string;
  /** How often the model is asked again for a reply that matches. */
  readonly repair?: number;
}

/** What the plan depends on besides the options. */
export interface ChatCircumstances {
  /** True if the global option for JSON is set. */
  readonly json: boolean;
  /** True if stdin is a pipe, a socket or a file. */
  readonly stdinIsFed: boolean;
  /** True if a person can type and read. A function, because inspecting stdin takes time and is rarely needed. */
  readonly canConverse: () => boolean;
}

export type ChatPlan =
  | { readonly kind: 'conversation' }
  | {
      readonly kind: 'turn';
      readonly format: ChatFormat;
      /** True if the words alone do not reproduce the turn: it also has files, stdin, a template or settings. */
      readonly hasMore: boolean;
    };

/** Throws `USAGE` for options that exclude each other. */
export function planChat(input: ChatInput, { json, stdinIsFed, canConverse }: ChatCircumstances): ChatPlan {
  checkConflicts(input, json);
  const { words, file: files = [], stdin, template, fork = false } = input;
  const format = formatOf(input, json);
  const hasWords = words.length > 0 || files.length > 0;
  const isBare = !hasWords && !input.regenerate && input.title === undefined && template === undefined;

  if (isBare && format === 'text' && !stdinIsFed && canConverse()) return { kind: 'conversation' };
  const hasOther = files.length > 0 || (stdin && stdinIsFed) || words.join(' ') === '-';
  const hasMore = hasOther || template !== undefined || hasSettings(input) || fork;
  return { kind: 'turn', format, hasMore };
}

function checkConflicts(input: ChatInput, json: boolean): void {
  checkEphemeralConflicts(input.ephemeral, [
    ['-s', input.session !== undefined, continuingHint],
    ['-c', input.continue, continuingHint],
    ['--fork', input.fork, continuingHint],
    ['--regenerate', input.regenerate, continuingHint],
    ['--title', input.title !== undefined, 'An ephemeral chat leaves no session that could have a title.'],
    ['--idempotency-key', input.idempotencyKey !== undefined, 'An ephemeral chat leaves no turn to repeat.'],
  ]);
  const choices = [
    input.session !== undefined && '-s',
    input.continue && '-c',
    // A copy is a new session.
    input.title !== undefined && !input.fork && '--title',
  ];
  const [one, other] = choices.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  checkSessionFlags(input, one === '-s' || one === '-c');
  if (input.session !== undefined) requireReference(input.session);
  if (input.jsonStream && json) {
    throw new ParleyError('USAGE', '--json and --json-stream cannot be used together.');
  }
  if (input.extractCode !== undefined && input.schema !== undefined)
    throw new ParleyError('USAGE', '--extract-code and --schema cannot be used together.', {
      hint: '--schema already finds JSON in a fenced block.',
    });
  if (input.extractCode !== undefined && (json || input.jsonStream)) {
    const flag = json ? '--json' : '--json-stream';
    throw new ParleyError('USAGE', `--extract-code and ${flag} cannot be used together.`, {
      hint: 'Choose one: the code block, or the whole response as JSON.',
    });
  }
}

/** `--regenerate` and `--fork` need an existing session, and `--regenerate` takes no message. */
function checkSessionFlags(input: ChatInput, hasSession: boolean): void {
  const { regenerate, fork, words, file, title, template } = input;
  if (!regenerate && !fork) return;
  const flag = regenerate ? '--regenerate' : '--fork';
  if (!hasSession) {
    throw new ParleyError('USAGE', `${flag} needs a session.`, {
      hint: 'Name one with -s, or use the last one with -c.',
    });
  }
  if (input.user !== undefined) {
    throw new ParleyError('USAGE', `--user and ${flag} cannot be used together.`, {
      hint: 'A session keeps its user, and so does a copy of it.',
    });
  }
  const message = [
    words.length > 0 && 'A message',
    file !== undefined && '-f',
    title !== undefined && '--title',
    template !== undefined && '-t',
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
  if (extractCode !== undefined) return `${extractCode} block`;
  return stream && schema === undefined ? 'text' : 'whole';
}
