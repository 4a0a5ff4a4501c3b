// The REPL reads a line, runs it, and repeats that until the person leaves. The prompt appears before the service is opened. A failure
// is reported in a line, and the failed message comes back to the prompt.
import { localProfile } from '../../config/profiles.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import type { CliContext } from '../context.ts';
import { exitDone } from '../exit-codes.ts';
import { Interruption } from '../interruption.ts';
import { targetOptions } from '../target-options.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { startTimer } from '../terminal/timer.ts';
import { withFiles } from './attachments.ts';
import type { Attempt, Conversation } from './conversation.ts';
import type { LineHistory } from './line-history.ts';
import type { PromptFor } from './line-layout.ts';
import type { LineSource } from './line-source.ts';
import { shortTitle } from './short-title.ts';
import type { Next } from './slash-command.ts';
import { slashCommands } from './slash-commands.ts';
import { resolveSlash } from './slash-line.ts';
import type { SubmittedLine } from './submitted-line.ts';
import { type FailedMessage, isStop, tellTrouble } from './trouble.ts';
import { wrappedLine } from './wrapped-line.ts';

const openingPauseMs = 30;

export interface ReplOptions {
  readonly context: CliContext;
  readonly source: LineSource;
  readonly history: LineHistory;
  readonly conversation: Conversation;
}

export class Repl {
  readonly #options: ReplOptions;
  #isHistoryTold = false;

  constructor(options: ReplOptions) {
    this.#options = options;
  }

  /** Resolves to the exit status. Rejects with the `Interruption` when a signal ends the REPL. */
  async run(): Promise<number> {
    const { source, context } = this.#options;
    const ended = whenAborted(context.signal);
    let next: Next;
    await this.#greet();
    for (let isFirst = true; next !== 'leave'; isFirst = false) {
      const reading = source.read(await this.#prompt(), next?.initial ?? '');
      if (isFirst) void this.#prepare();
      const read = await Promise.race([reading, ended]);
      if (read.kind === 'left') break;
      if (read.kind === 'gone') throw new Interruption('SIGHUP');
      next = await this.#take(read.line);
    }
    await this.#sayHowToGoOn();
    return exitDone;
  }

  /** A person who is new needs to know where help is. */
  async #greet(): Promise<void> {
    const { stderr, options } = this.#options.context;
    if (options.quiet) return;
    const { dim } = await stderr.style();
    await stderr.write(terminalText`${dim('/help lists the commands and keys.')}\n`);
  }

  /** Opens the service and asks for its mode while the first line is typed. */
  async #prepare(): Promise<void> {
    const { conversation, context, source } = this.#options;
    // The prompt and the first keys come first, because opening a store blocks the keyboard for a moment.
    await new Promise<void>((resolve) => startTimer(openingPauseMs, resolve));
    try {
      await context.open();
      if (conversation.mode !== null) return;
      await conversation.knownMode(context);
      source.reprompt(await this.#prompt());
    } catch (error) {
      if (!context.signal.aborted) await source.above(() => tellTrouble(error, context));
    }
  }

  async #take(line: SubmittedLine): Promise<Next> {
    if (line.text.trim() === '') return undefined;
    const { history } = this.#options;
    await history.add(line.typed).catch((error: unknown) => this.#tellOnce(error));
    if (line.mayBeCommand) return this.#command(line.text);
    const { conversation } = this.#options;
    const before = conversation.last;
    const isSaid = await this.#stoppable(async (scoped) => {
      const typed = await withFiles(line.text, conversation, scoped);
      await conversation.say(conversation.template?.make(typed) ?? typed, scoped);
    }, this.#returned);
    if (!isSaid) return { initial: line.typed };
    // If the message was stopped before it was stored, its files and its template wait for the next try.
    const { last } = conversation;
    if (last !== before && (last?.isKept || last?.isAnswered)) {
      conversation.files = [];
      conversation.template = null;
    }
    return undefined;
  }

  /** A history that cannot be stored is reported once, not after every line. */
  async #tellOnce(error: unknown): Promise<void> {
    if (!this.#isHistoryTold) await tellTrouble(error, this.#options.context);
    this.#isHistoryTold = true;
  }

  async #command(text: string): Promise<Next> {
    const { context, conversation, source } = this.#options;
    const resolved = resolveSlash(text, slashCommands);
    if (resolved.kind === 'unknown') {
      const { stderr } = context;
      await stderr.write(`${await wrappedLine(stderr.visible(resolved.problem), stderr)}\n`);
      return undefined;
    }
    let next: Next;
    const { command, argument } = resolved;
    await this.#stoppable(
      async (scoped) => {
        next = await command.run(argument, { context: scoped, conversation, source });
      },
      { next: command.afterFailure ?? null, makeRoom: '', recall: '' },
    );
    return next;
  }

  /** Runs work that Ctrl-C can stop. Returns false if it failed, after reporting the failure. A signal ends the REPL. */
  async #stoppable(work: (context: CliContext) => Promise<void>, message: FailedMessage): Promise<boolean> {
    const { context, source, conversation } = this.#options;
    const stop = new AbortController();
    const { last } = conversation;
    source.onInterrupt(() => stop.abort(new Interruption('SIGINT', 'line')));
    try {
      await work(context.withSignal(AbortSignal.any([context.signal, stop.signal])));
      return true;
    } catch (error) {
      context.signal.throwIfAborted();
      if (stop.signal.aborted) await this.#sayStopped(last, message);
      else if (!isStop(error)) await tellTrouble(error, context, message);
      return stop.signal.aborted || isStop(error);
    } finally {
      source.onInterrupt(null);
    }
  }

  /** A failed message stands at the next prompt. A stopped one does not. */
  get #returned(): FailedMessage {
    const { makeRoom, recall } = this.#options.source;
    return { next: 'Enter sends it again.', makeRoom, recall: recall ?? '' };
  }

  /** `before` is the attempt before the stopped work, which may have made none of its own. */
  async #sayStopped(before: Attempt | null, { recall }: FailedMessage): Promise<void> {
    const { context, conversation } = this.#options;
    const { dim } = await context.stderr.style();
    const last = conversation.last === before ? null : conversation.last;
    let what = recall;
    if (last?.isAnswered === true) what = '';
    else if (last?.isKept === true) what = `${last.isBegun ? 'what had come' : 'your message'} is kept`;
    else if (recall === '' && last !== null) what = '/retry sends it again';
    await context.stderr.write(terminalText`${dim(what === '' ? '[stopped]' : `[stopped; ${what}]`)}\n`);
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
      const most = /^[\x20-\x7e]*$/.test(title ?? '') ? room : Math.floor(room / 2);
      const shown = title === null || most < 4 ? '' : ` (${shortTitle(title, most)})`;
      return {
        text: `${name}${shown}${attached}> `,
        styled: terminalText`${bold(name)}${dim(shown)}${attached}> `,
      };
    };
  }

  async #sayHowToGoOn(): Promise<void> {
    const { conversation, context } = this.#options;
    if (conversation.sessionId === null) return;
    if (context.keepsNoText) return context.say('No text of this conversation is kept.');
    const words = [...targetOptions(context.options), '-s', conversation.sessionId];
    await context.say(`Go on with: parley repl ${words.map(quoteForShell).join(' ')}`);
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
