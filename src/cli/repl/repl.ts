// The REPL reads a line, runs it, and repeats that until the user leaves. The prompt appears before the service is opened. A failure is
// reported in one line, and the failed message returns to the prompt.
import { localProfile } from '../../config/profiles.ts';
import { ParleyError } from '../../service/errors.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import type { CliContext } from '../context.ts';
import { exitDone } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import { targetOptions } from '../target-options.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { startTimer } from '../terminal/timer.ts';
import { wrappedLine } from '../terminal/wrapped-line.ts';
import { withFiles } from './attachments.ts';
import type { Attempt } from './attempt.ts';
import type { Conversation } from './conversation.ts';
import type { LineHistory } from './line-history.ts';
import type { PromptFor } from './line-layout.ts';
import type { LineSource } from './line-source.ts';
import { isStop, noResendHints, type ResendHints, reportReplFailure } from './repl-failure.ts';
import { shortTitle } from './short-title.ts';
import type { LineResult } from './slash-command.ts';
import { slashCommands } from './slash-commands.ts';
import { resolveSlash } from './slash-line.ts';
import type { SubmittedLine } from './submitted-line.ts';

/** The longest time that a prompt waits for its mode. */
const slowServiceMs = 1000;
const openingPauseMs = 30;
/** A line of one of these words leaves, as it does in most other programs. Between quotes (`"""exit"""`) the word is a message. */
const leavingWords: readonly string[] = ['exit', 'quit'];

/** A stopped message does not return to the prompt. */
const stoppedHints: ResendHints = { ...noResendHints, resend: '/retry sends it again.' };

interface ReplOptions {
  readonly context: CliContext;
  readonly source: LineSource;
  readonly history: LineHistory;
  readonly conversation: Conversation;
}

export class Repl {
  readonly #options: ReplOptions;
  #isHistoryFailureReported = false;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** Resolves to the exit status. Rejects with the `Interruption` when a signal ends the REPL. */
  async run(): Promise<number> {
    const { source, context } = this.#options;
    const ended = whenAborted(context.signal);
    let next: LineResult;
    await this.#greet();
    for (let isFirst = true; next !== 'leave'; isFirst = false) {
      if (isFirst && !source.replacesPrompt) await this.#prepareBriefly();
      const reading = source.read(await this.#prompt(), next?.initial ?? '');
      if (isFirst && source.replacesPrompt) void this.#prepare();
      const read = await Promise.race([reading, ended]);
      if (read.kind === 'left') break;
      if (read.kind === 'gone') throw new Interruption('SIGHUP');
      next = await this.#run(read.line);
    }
    await this.#sayHowToContinue();
    return exitDone;
  }

  /** A new user needs to know where help is. */
  async #greet(): Promise<void> {
    const { stderr, options } = this.#options.context;
    if (options.quiet) return;
    const { dim } = await stderr.style();
    await stderr.write(terminalText`${dim('/help lists the commands and keys.')}\n`);
  }

  /** Opens the service and reads its default mode while the first line is typed. */
  async #prepare(): Promise<void> {
    const { conversation, context, source } = this.#options;
    // The prompt and the first keys have priority, because opening a store blocks the keyboard for a moment.
    await new Promise<void>((resolve) => startTimer(openingPauseMs, resolve));
    try {
      await context.open();
      if (conversation.mode !== null) return;
      await conversation.resolveMode(context);
      source.reprompt(await this.#prompt());
    } catch (error) {
      if (!context.signal.aborted) await source.above(() => reportReplFailure(error, context));
    }
  }

  /** A prompt that stays on the screen is shown once, with its mode, unless the service is slow. */
  async #prepareBriefly(): Promise<void> {
    const prepared = this.#prepare();
    if (this.#options.conversation.mode !== null) return;
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      // Nothing else keeps the process alive before the first line is read.
      timer = setTimeout(resolve, slowServiceMs);
    });
    await Promise.race([prepared, waited]);
    clearTimeout(timer);
  }

  async #run(line: SubmittedLine): Promise<LineResult> {
    if (line.text.trim() === '') return undefined;
    if (leavingWords.includes(line.typed.trim())) return 'leave';
    const { history } = this.#options;
    await history.add(line.typed).catch((error: unknown) => this.#reportHistoryFailure(error));
    if (line.mayBeCommand) return this.#command(line.text);
    const { conversation } = this.#options;
    const before = conversation.lastAttempt;
    const hasEnded = await this.#stoppable(async (scoped) => {
      const typed = await withFiles(line.text, line.mentions, conversation, scoped);
      await conversation.send(conversation.template?.make(typed) ?? typed, scoped);
    }, this.#messageHints);
    if (!hasEnded) return { initial: line.returned };
    // If the message was stopped before it was stored, its files and its template are kept for the next attempt.
    const { lastAttempt } = conversation;
    if (lastAttempt !== before && (lastAttempt?.isStored || lastAttempt?.isAnswered)) {
      conversation.files = [];
      conversation.template = null;
    }
    return undefined;
  }

  /** A history that cannot be stored is reported once, not after every line. */
  async #reportHistoryFailure(error: unknown): Promise<void> {
    if (!this.#isHistoryFailureReported) await reportReplFailure(error, this.#options.context);
    this.#isHistoryFailureReported = true;
  }

  async #command(text: string): Promise<LineResult> {
    const { context, conversation, source } = this.#options;
    const resolved = resolveSlash(text, slashCommands);
    if (resolved.kind === 'refused') {
      const { stderr } = context;
      await stderr.write(`${await wrappedLine(stderr.visible(resolved.problem), stderr)}\n`);
      return undefined;
    }
    let next: LineResult;
    const { command, argument } = resolved;
    await this.#stoppable(
      async (scoped) => {
        next = (await command.run(argument, { context: scoped, conversation, source })) ?? undefined;
      },
      { ...noResendHints, resend: command.resendHint ?? '' },
    );
    return next;
  }

  /**
   * Runs work that Ctrl-C can stop. Returns true if it was done or stopped. Reports a failure and then returns false. A signal ends the
   * REPL.
   */
  async #stoppable(work: (context: CliContext) => Promise<void>, hints: ResendHints): Promise<boolean> {
    const { context, source, conversation } = this.#options;
    const stop = new AbortController();
    const attemptBefore = conversation.lastAttempt;
    source.onInterrupt(() => stop.abort(new Interruption('SIGINT', 'line')));
    try {
      await work(context.withSignal(AbortSignal.any([context.signal, stop.signal])));
      return true;
    } catch (error) {
      context.signal.throwIfAborted();
      const isStopped = stop.signal.aborted || isStop(error);
      // With a session, the failure says that the service could not keep the received part of the reply.
      const isKept = !(error instanceof ParleyError) || error.session_id === null;
      if (stop.signal.aborted && isKept) await this.#sayStopped(attemptBefore, hints);
      else if (!isStop(error)) await reportReplFailure(error, context, isStopped ? stoppedHints : hints);
      return isStopped;
    } finally {
      source.onInterrupt(null);
    }
  }

  /** The hints for a message. A failed message returns to the next prompt. A stopped one does not. */
  get #messageHints(): ResendHints {
    const { clearLineHint, recallHint } = this.#options.source;
    const clearLine = recallHint === '' ? clearLineHint : `${clearLineHint} ${recallHint}.`;
    return { resend: 'Enter sends it again.', clearLine, recall: recallHint };
  }

  /** `attemptBefore` is the last attempt before the stopped work, which may have made no attempt. */
  async #sayStopped(attemptBefore: Attempt | null, { recall }: ResendHints): Promise<void> {
    const { context, conversation } = this.#options;
    const { dim } = await context.stderr.style();
    const attempt = conversation.lastAttempt === attemptBefore ? null : conversation.lastAttempt;
    let note = recall;
    if (attempt?.isAnswered === true) note = '';
    else if (attempt?.isStored === true)
      note = `${attempt.isBegun ? 'the partial reply' : 'your message'} is kept`;
    else if (recall === '' && attempt !== null) note = '/retry sends it again';
    await context.stderr.write(terminalText`${dim(note === '' ? '[stopped]' : `[stopped; ${note}]`)}\n`);
  }

  async #prompt(): Promise<PromptFor> {
    const { conversation, context } = this.#options;
    const { bold, dim } = await context.stdout.style();
    const { mode, title, files, template } = conversation;
    const { profile } = context.target;
    const place = profile === null || profile === localProfile ? '' : `@${profile}`;
    const parts = [
      ...(files.length === 0 ? [] : [files.length]),
      ...(template === null ? [] : [template.name]),
    ];
    const attached = parts.map((part) => ` +${part}`).join('');
    return (columns) => {
      const name = mode === null ? '' : shortTitle(mode + place, Math.max(4, Math.floor(columns / 4)));
      const room = Math.min(40, Math.floor(columns / 2) - name.length - 6);
      // Characters outside ASCII may take two columns each.
      const maxLength = /^[\x20-\x7e]*$/.test(title ?? '') ? room : Math.floor(room / 2);
      const shown = title === null || maxLength < 4 ? '' : ` (${shortTitle(title, maxLength)})`;
      return {
        text: `${name}${shown}${attached}> `,
        styled: terminalText`${bold(name)}${dim(shown)}${attached}> `,
      };
    };
  }

  async #sayHowToContinue(): Promise<void> {
    const { conversation, context } = this.#options;
    if (conversation.sessionId === null) return;
    if (context.keepsNoText) return context.say('The text of this conversation is not kept.');
    const words = [...targetOptions(context.options), '-s', conversation.sessionId];
    await context.say(`Continue with: parley repl ${words.map(quoteForShell).join(' ')}`);
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason));
  });
  // A rejection between two races is handled by the next race.
  aborted.catch(() => {});
  return aborted;
}
