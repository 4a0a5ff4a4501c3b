// Plans `parley chat` from its options and environment: one turn, or a conversation with the person at the terminal. The code is pure.
import { ParleyError } from '../service/errors.ts';
import type { MessageSources } from './chat-message.ts';
import type { ChatFormat } from './chat-output.ts';
import { checkEphemeralConflicts, continuingHint } from './ephemeral-option.ts';
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
  /** True to request another reply to the last message of the session. There is no new message then. */
  readonly regenerate: boolean;
  /** True to continue a copy of the session. */
  readonly fork: boolean;
  /** True to keep no text of the turn. */
  readonly ephemeral: boolean;
  readonly title: string | null;
  /** The user that the session belongs to. Null sets no user on a new session and accepts any on an existing one. */
  readonly user: string | null;
  readonly stream: boolean;
  readonly jsonStream: boolean;
  /** True to print the tokens of the turn. */
  readonly usage: boolean;
  /** True to show the model's reasoning. */
  readonly reasoning: boolean;
  /** The key of the failed turn to repeat; null for a new turn. */
  readonly idempotencyKey: string | null;
  readonly markdown: MarkdownChoice;
  /** The fenced block to print; null for the whole reply. */
  readonly extractCode: WhichBlock | null;
  /** The file of the JSON Schema that the reply must match; null for none. */
  readonly schema: string | null;
  /** How often the model is asked again for a reply that matches. */
  readonly repairs: number;
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
  | { readonly kind: 'conversation'; readonly repl: ReplInput }
  | {
      readonly kind: 'turn';
      readonly format: ChatFormat;
      /** True if the words alone do not reproduce the turn: it also has files, stdin, a template or settings. */
      readonly hasMore: boolean;
    };

/** Throws `USAGE` for options that exclude each other. */
export function planChat(input: ChatInput, { json, stdinIsFed, canConverse }: ChatCircumstances): ChatPlan {
  checkConflicts(input, json);
  const { words, files, stdin, mode, markdown, settings, template, session, user, fork, ephemeral } = input;
  const format = formatOf(input, json);
  const hasWords = words.length > 0 || files.length > 0;
  const isBare = !hasWords && !input.regenerate && input.title === null && template === null;

  if (isBare && format === 'text' && !stdinIsFed && canConverse()) {
    return {
      kind: 'conversation',
      repl: { session, continue: input.continue, mode, markdown, settings, user, fork, ephemeral },
    };
  }
  const hasOther = files.length > 0 || (stdin && stdinIsFed) || words.join(' ') === '-';
  const hasMore = hasOther || template !== null || hasSettings(settings) || fork;
  return { kind: 'turn', format, hasMore };
}

function checkConflicts(input: ChatInput, json: boolean): void {
  checkEphemeralConflicts(input.ephemeral, [
    ['-s', input.session !== null, continuingHint],
    ['-c', input.continue, continuingHint],
    ['--fork', input.fork, continuingHint],
    ['--regenerate', input.regenerate, continuingHint],
    ['--title', input.title !== null, 'An ephemeral chat leaves no session that could have a title.'],
    ['--idempotency-key', input.idempotencyKey !== null, 'An ephemeral chat leaves no turn to repeat.'],
  ]);
  const choices = [
    input.session !== null && '-s',
    input.continue && '-c',
    // A copy is a new session.
    input.title !== null && !input.fork && '--title',
  ];
  const [one, other] = choices.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  checkSessionFlags(input, one === '-s' || one === '-c');
  if (input.session !== null) requireReference(input.session);
  if (input.jsonStream && json) {
    throw new ParleyError('USAGE', '--json and --json-stream cannot be used together.');
  }
  if (input.extractCode !== null && input.schema !== null)
    throw new ParleyError('USAGE', '--extract-code and --schema cannot be used together.', {
      hint: '--schema already finds JSON in a fenced block.',
    });
  if (input.extractCode !== null && (json || input.jsonStream)) {
    const flag = json ? '--json' : '--json-stream';
    throw new ParleyError('USAGE', `--extract-code and ${flag} cannot be used together.`, {
      hint: 'Choose one: the code block, or the whole response as JSON.',
    });
  }
}

/** `--regenerate` and `--fork` need an existing session, and `--regenerate` takes no message. */
function checkSessionFlags(input: ChatInput, hasSession: boolean): void {
  const { regenerate, fork, words, files, title, template } = input;
  if (!regenerate && !fork) return;
  const flag = regenerate ? '--regenerate' : '--fork';
  if (!hasSession) {
    throw new ParleyError('USAGE', `${flag} needs a session.`, {
      hint: 'Name one with -s, or use the last one with -c.',
    });
  }
  if (input.user !== null) {
    throw new ParleyError('USAGE', `--user and ${flag} cannot be used together.`, {
      hint: 'A session keeps its user, and so does a copy of it.',
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
