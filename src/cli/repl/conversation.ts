// The conversation of a REPL: its mode, its session and its last attempt at a turn. A turn is run here, from the message to the end of
// the reply. Other files read the lines and run the commands.

import { offers } from '../../service/backend.ts';
import type { Call, WaitingSign } from '../../service/call.ts';
import type { ChatEvent, ChatRequestInMode } from '../../service/chat-event.ts';
import { hasCode, ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { firstReplyNote } from '../first-reply-note.ts';
import { chooseMode, withModeOfSession } from '../mode-choice.ts';
import { fetchSession } from '../session-reference.ts';
import { type GivenSettings, initialSettings, noGivenSettings } from '../setting-options.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { turnNotes } from '../turn-notes.ts';
import { type Attempt, isSameMessage, newAttempt } from './attempt.ts';
import { lastTurn } from './last-messages.ts';
import { shownReply, streamTurn } from './shown-reply.ts';

interface ConversationOptions {
  readonly mode: string | null;
  readonly markdown: MarkdownChoice;
  /** The user of new sessions. Null or missing for none. */
  readonly user?: string | null;
}

/** A template that waits for its input. */
interface PendingTemplate {
  readonly name: string;
  /** Fills the template with the typed text. Returns the message. */
  readonly make: (typed: string) => string;
}

export class Conversation {
  /** The mode of the last turn of the session that was entered. */
  #modeOfSession: string | null = null;
  mode: string | null;
  readonly markdown: MarkdownChoice;
  /** The user of new sessions. Null for none. */
  readonly user: string | null;
  sessionId: string | null = null;
  /** The title of the session, or of the session that the next message creates. */
  title: string | null = null;
  /** The id of the session that was deleted last in this REPL, for /restore. */
  deletedId: string | null = null;
  lastAttempt: Attempt | null = null;
  /** The text of the last reply that had any. */
  reply = '';
  /** The usage of the last complete reply. Null if the server did not report it, or if there is no reply yet. */
  usage: Usage | null = null;
  /** The paths of the files that are attached to the next message. */
  files: readonly string[] = [];
  /** The settings of the session that the next message creates. */
  settings: GivenSettings = noGivenSettings;
  /** The template that the next message fills. Null for none. */
  template: PendingTemplate | null = null;

  constructor({ mode, markdown, user = null }: ConversationOptions) {
    this.mode = mode;
    this.markdown = markdown;
    this.user = user;
  }

  /** Sends further messages to this session. Null for a session that the next message creates. */
  enter(sessionId: string | null, title: string | null): void {
    this.sessionId = sessionId;
    this.title = title;
    this.settings = noGivenSettings;
    this.forgetLastTurn();
  }

  /** Called when the last turn was undone, or belongs to another session. */
  forgetLastTurn(): void {
    this.lastAttempt = null;
    this.reply = '';
    this.usage = null;
  }

  /** Continues the entered session in the mode of its last turn. Null means that this mode is not known. It changes nothing. */
  continueInMode(mode: string | null): void {
    if (mode === null) return;
    this.mode = mode;
    this.#modeOfSession = mode;
  }

  /** Returns the current mode. If none was named, it asks the service for the default mode. */
  async resolveMode(context: CliContext): Promise<string> {
    this.mode ??= await chooseMode(null, context, '/mode');
    return this.mode;
  }

  /** Sends a new message. If it equals the last message, which failed, it is sent again with the same idempotency key. */
  async send(message: string, context: CliContext): Promise<void> {
    const mode = await this.resolveMode(context);
    const { lastAttempt } = this;
    const request = this.#request(mode, message);
    if (lastAttempt?.isReturned && isSameMessage(lastAttempt.request, request)) {
      return this.#runTurn(await this.#repetitionOf(lastAttempt, context), context);
    }
    await this.#runTurn(newAttempt(request, context), context);
  }

  /** Repeats the last attempt if it failed. Otherwise it says that the last reply is complete. */
  async retry(context: CliContext): Promise<void> {
    const { lastAttempt } = this;
    if (lastAttempt === null) return this.#retryStored(context);
    if (lastAttempt.isAnswered) return sayComplete(context);
    if (lastAttempt.regenerates)
      return this.#runTurn(await this.#repetitionOf(lastAttempt, context), context);
    const mode = await this.resolveMode(context);
    if (mode !== lastAttempt.request.mode) {
      await context.say(`The mode is now ${mode}, so the message is sent as a new turn.`);
      return this.#runTurn(newAttempt(this.#request(mode, lastAttempt.request.message), context), context);
    }
    await this.#runTurn(await this.#repetitionOf(lastAttempt, context), context);
  }

  /** Asks for another reply to the last message of the session. Null means the current mode. */
  async regenerate(mode: string | null, context: CliContext): Promise<void> {
    await this.#runTurn(await this.#regeneration(mode, context), context);
  }

  async #regeneration(mode: string | null, context: CliContext): Promise<Attempt> {
    const { sessionId: session_id } = this;
    if (session_id === null) throw nothingToRepeat();
    const request = { mode: mode ?? (await this.resolveMode(context)), message: '', session_id };
    return { ...newAttempt(request, context), regenerates: true };
  }

  #request(mode: string, message: string): ChatRequestInMode {
    const { sessionId: session_id, title, user } = this;
    if (session_id !== null) return { mode, message, session_id };
    const newSession = { ...(title !== null && { title }), ...(user !== null && { user }) };
    return { mode, message, session_id, ...newSession, ...initialSettings(this.settings) };
  }

  /**
   * Repeats the last message of a continued session if it has no complete reply. Its idempotency key is lost, because the process that
   * sent it has ended. A service that can generate another reply stores nothing twice. Other services get the message as a new turn.
   */
  async #retryStored(context: CliContext): Promise<void> {
    const { sessionId } = this;
    if (sessionId === null) throw nothingToRepeat();
    const turn = await lastTurn(sessionId, context);
    if (turn === null) throw nothingToRepeat();
    if (turn.isAnswered) return sayComplete(context);
    const { backend } = await context.open();
    if (offers(backend, 'lines')) {
      // A turn that still runs elsewhere may complete the reply, so the call does not wait for its end.
      const stop = new AbortController();
      const scoped = context.withSignal(AbortSignal.any([context.signal, stop.signal]));
      const stopWaiting = () => stop.abort(stillReplying());
      return this.#runTurn(await this.#regeneration(null, context), scoped, stopWaiting);
    }
    const mode = await this.resolveMode(context);
    await context.say(
      'The idempotency key of the last message is not known, so the message is sent again as a new turn.',
    );
    await this.#runTurn(newAttempt(this.#request(mode, turn.message), context), context);
  }

  /**
   * Returns the attempt that repeats this one. With its key, the message is the same turn, whether the server has stored it or not. If
   * the server may ignore keys, the message is a new turn in the session that the first attempt created.
   */
  async #repetitionOf(attempt: Attempt, context: CliContext): Promise<Attempt> {
    const { backend } = await context.open();
    if (offers(backend, 'idempotency')) return attempt;
    await context.say('This server may not support idempotency keys, so this may repeat the turn.');
    const { mode, message, session_id } = attempt.request;
    return session_id === this.sessionId ? attempt : newAttempt(this.#request(mode, message), context);
  }

  /** `onBusy` is called if the turn waits for another one of the session. Only the embedded service says so. */
  async #runTurn(attempt: Attempt, context: CliContext, onBusy = () => {}): Promise<void> {
    const { lastAttempt: attemptBefore } = this;
    this.lastAttempt = { ...attempt, isBegun: false, isReturned: false };
    const call = { ...(await context.call()), idempotencyKey: attempt.idempotencyKey };
    const shown = await shownReply(this.markdown, context);
    const notes: string[] = [];
    const firstNote = await firstReplyNote(attempt.request.mode, context);
    let title: Promise<void> | null = null;
    try {
      const notice = (sign: WaitingSign) => {
        if (sign.kind === 'busy') onBusy();
        shown.notice(sign);
      };
      const events = await eventsOf(attempt, { ...call, notice }, context);
      const complete = await streamTurn(events, shown, (event) => {
        if (event.event === 'session') title = this.#onStored(event.data.session_id, attempt, context);
        else this.#take(event, attempt);
      });
      context.signal.throwIfAborted();
      if (complete === null) {
        throw new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.');
      }
      this.lastAttempt = { ...this.lastAttempt, isAnswered: true };
      this.usage = complete.usage;
      notes.push(...turnNotes(complete, attempt.request));
      if (complete.finish_reason === 'length')
        notes.push('The reply ends here because it reached its limit.');
      if (firstNote !== null) notes.push(firstNote);
    } catch (error) {
      // A service that cannot begin another reply has done nothing, so the attempt before stays the last one.
      const isBusy = hasCode(error, 'SESSION_BUSY') && !this.lastAttempt?.isStored;
      if (attempt.regenerates && (isBusy || hasCode(error, 'UNSUPPORTED'))) {
        this.lastAttempt = attemptBefore;
        throw error;
      }
      this.lastAttempt = { ...this.lastAttempt, isReturned: !context.signal.aborted && !attempt.regenerates };
      throw this.#withModeOfSession(error, attempt);
    } finally {
      await shown.end(notes);
      await title;
    }
  }

  #withModeOfSession(error: unknown, { request: { mode, session_id: sessionId } }: Attempt): unknown {
    if (sessionId === null || mode !== this.#modeOfSession) return error;
    return withModeOfSession(error, { mode, sessionId }, '/mode MODE');
  }

  /** Updates the last attempt and its reply. */
  #take(event: ChatEvent, attempt: Attempt): void {
    if (event.event === 'done') this.reply = event.data.reply;
    else if (event.event === 'delta') {
      this.reply = (this.lastAttempt?.isBegun ? this.reply : '') + event.data.text;
      this.lastAttempt = { ...(this.lastAttempt ?? attempt), isBegun: true };
    }
  }

  /** Called when the message is stored, perhaps in a new session. The title of that session is read while the reply arrives. */
  async #onStored(sessionId: string, attempt: Attempt, context: CliContext): Promise<void> {
    this.lastAttempt = { ...(this.lastAttempt ?? attempt), isStored: true };
    const isNew = this.sessionId !== sessionId;
    this.sessionId = sessionId;
    this.settings = noGivenSettings;
    if (attempt.regenerates) this.continueInMode(attempt.request.mode);
    try {
      await context.rememberSession(sessionId, attempt.request.mode);
      if (isNew || this.title === null) this.title = await titleOf(sessionId, context);
    } catch {
      // A failure to store the current session, or to read a title, must not lose the reply.
    }
  }
}

async function eventsOf(
  { request, regenerates }: Attempt,
  call: Call,
  context: CliContext,
): Promise<AsyncIterable<ChatEvent>> {
  const { backend } = await context.open();
  const { mode, session_id } = request;
  if (!regenerates || session_id === null) return backend.service.chat(call, request, 'chunks');
  return backend.archive.regenerate(call, session_id, { mode }, 'chunks');
}

function stillReplying(): ParleyError {
  return new ParleyError('SESSION_BUSY', 'The last turn of this session still runs elsewhere.', {
    hint: 'Nothing was sent. Its reply may be complete when it ends.',
  });
}

function nothingToRepeat(): ParleyError {
  return new ParleyError('USAGE', 'There is no message to send again.', { hint: 'Send one first.' });
}

async function sayComplete(context: CliContext): Promise<void> {
  const { backend } = await context.open();
  const canRegenerate = offers(backend, 'lines');
  const advice = canRegenerate
    ? '/regenerate asks for another one'
    : 'send the message again for another one';
  await context.say(`The last reply is complete; ${advice}.`);
}

export async function titleOf(sessionId: string, context: ServiceAccess): Promise<string | null> {
  const { title } = await fetchSession(sessionId, context);
  return typeof title === 'string' ? title : null;
}
