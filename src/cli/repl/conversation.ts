// The conversation that a REPL holds: its mode, its session and the turn that was last tried. One turn is run here, from the message to
// its end. Other files read the lines and run the commands.
import type { ChatReply, ChatRequest } from '../../service/chat-event.ts';
import { ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { noteOfFirstReply } from '../first-reply.ts';
import { chooseMode, withModeOfSession } from '../mode-choice.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { turnNotes } from '../turn-notes.ts';
import { unansweredMessage } from './last-messages.ts';
import { shownReply } from './shown-reply.ts';

export interface ConversationOptions {
  readonly mode: string | null;
  readonly markdown: MarkdownChoice;
}

/** A message as it was sent, and the key that a repetition of it uses. */
export interface Attempt {
  readonly request: ChatRequest;
  readonly key: string;
  /** True if the whole reply arrived. */
  readonly isAnswered: boolean;
  /** True if a part of the reply arrived. */
  readonly isBegun: boolean;
  /** True if the service stored the message. */
  readonly isKept: boolean;
  /** True if the message failed and went back to the prompt. */
  readonly isReturned: boolean;
}

/** A reply lets the keyboard be read at least this often. */
const mostMsAtOnce = 10;

export class Conversation {
  readonly #options: ConversationOptions;
  /** The mode that the entered session was in. */
  #modeOfSession: string | null = null;
  mode: string | null;
  sessionId: string | null = null;
  /** The title of the session, or of the session that the next message creates. */
  title: string | null = null;
  /** The session that was deleted last in this REPL, for /restore. */
  deletedId: string | null = null;
  last: Attempt | null = null;
  /** The text of the last reply that had any. */
  reply = '';
  /** The usage of the last whole reply. Null if it was not counted, or if there is no reply yet. */
  usage: Usage | null = null;
  /** Files that go with the next message. */
  files: readonly string[] = [];

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.mode = options.mode;
  }

  /** Sends further messages to this session. Null for a session that the next message creates. */
  enter(sessionId: string | null, title: string | null): void {
    this.sessionId = sessionId;
    this.title = title;
    this.last = null;
    this.reply = '';
    this.usage = null;
  }

  /** The session that was entered goes on in the mode of its last turn. Null if that is not known: the mode stays. */
  goOnIn(mode: string | null): void {
    if (mode === null) return;
    this.mode = mode;
    this.#modeOfSession = mode;
  }

  /** The name of the mode. The service is asked if no mode was named. */
  async knownMode(context: CliContext): Promise<string> {
    this.mode ??= await chooseMode(null, context, '/mode');
    return this.mode;
  }

  /** Sends a new message. The message that was not answered last is sent again under its key if the text is the same. */
  async say(message: string, context: CliContext): Promise<void> {
    const mode = await this.knownMode(context);
    const { last } = this;
    const request = this.#request(mode, message);
    if (last?.isReturned && isSameMessage(last.request, request)) {
      return this.#turn(await this.#again(last, context), context);
    }
    await this.#turn(newAttempt(request, context), context);
  }

  async retry(context: CliContext): Promise<void> {
    const { last } = this;
    if (last === null) return this.#retryKept(context);
    const mode = await this.knownMode(context);
    if (mode !== last.request.mode) {
      await context.say(`In another mode this is another turn: ${mode}.`);
      return this.#turn(newAttempt(this.#request(mode, last.request.message), context), context);
    }
    await this.#turn(await this.#again(last, context), context);
  }

  #request(mode: string, message: string): ChatRequest {
    const { sessionId: session_id, title } = this;
    return { mode, message, session_id, ...(session_id === null && title !== null && { title }) };
  }

  /**
   * For a session that is continued: the message at its end that has no whole reply. Its key is lost, because the process that sent it
   * has ended.
   */
  async #retryKept(context: CliContext): Promise<void> {
    const message = this.sessionId === null ? null : await unansweredMessage(this.sessionId, context);
    if (message === null) {
      throw new ParleyError('USAGE', 'There is no message to send again.', { hint: 'Send one first.' });
    }
    const mode = await this.knownMode(context);
    await context.say('The key of the last message is not known here: this sends it again as another turn.');
    await this.#turn(newAttempt(this.#request(mode, message), context), context);
  }

  /**
   * With its key, the message is the same turn, whatever happened to it. If the server may ignore keys, the message is another turn in
   * the session that it created.
   */
  async #again(last: Attempt, context: CliContext): Promise<Attempt> {
    const { backend } = await context.open();
    if (backend.extensions?.includes('idempotency')) return last;
    await context.say('This server is not known to tell a repetition by its key: this repeats the turn.');
    const { mode, message, session_id } = last.request;
    return session_id === this.sessionId ? last : newAttempt(this.#request(mode, message), context);
  }

  async #turn(attempt: Attempt, context: CliContext): Promise<void> {
    this.last = { ...attempt, isBegun: false, isReturned: false };
    const { backend } = await context.open();
    const call = { ...(await context.call()), idempotencyKey: attempt.key };
    const shown = await shownReply(this.#options.markdown, context);
    const notes: string[] = [];
    const firstNote = await noteOfFirstReply(attempt.request.mode, context);
    let title: Promise<void> | null = null;
    let reply = '';
    try {
      let complete: ChatReply | null = null;
      let yieldedAt = monotonicMs();
      for await (const event of backend.service.chat(
        { ...call, notice: shown.notice },
        attempt.request,
        'chunks',
      )) {
        if (event.event === 'session') {
          title = this.#entered(event.data.session_id, attempt, context);
        } else if (event.event === 'delta') {
          reply += event.data.text;
          this.reply = reply;
          this.last = { ...this.last, isBegun: true };
        } else if (event.event === 'done') {
          complete = event.data;
          this.reply = event.data.reply;
        }
        await shown.take(event);
        // An engine that never waits would keep the keyboard from being read.
        if (monotonicMs() - yieldedAt > mostMsAtOnce) {
          await yieldToEventLoop();
          yieldedAt = monotonicMs();
        }
      }
      context.signal.throwIfAborted();
      if (complete === null) {
        throw new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.');
      }
      this.last = { ...this.last, isAnswered: true };
      this.usage = complete.usage;
      notes.push(...turnNotes(complete, attempt.request));
      if (complete.finish_reason === 'length')
        notes.push('The reply ends here because it reached its limit.');
      if (firstNote !== null) notes.push(firstNote);
    } catch (error) {
      this.last = { ...this.last, isReturned: !context.signal.aborted };
      const { mode, session_id: sessionId } = attempt.request;
      if (sessionId === null || mode !== this.#modeOfSession) throw error;
      throw withModeOfSession(error, { mode, sessionId }, '/mode MODE');
    } finally {
      await shown.end(notes);
      await title;
    }
  }

  /** The message is stored, perhaps in a new session. The title of that session is read while the reply arrives. */
  async #entered(sessionId: string, attempt: Attempt, context: CliContext): Promise<void> {
    this.last = { ...(this.last ?? attempt), isKept: true };
    const isNew = this.sessionId !== sessionId;
    this.sessionId = sessionId;
    try {
      await context.rememberSession(sessionId, attempt.request.mode);
      if (isNew || this.title === null) this.title = await titleOf(sessionId, context);
    } catch {
      // A failure to store the current session, or to read a title, must not lose the reply.
    }
  }
}

/** Compares everything except the session: the first attempt may have created it. */
function isSameMessage(one: ChatRequest, other: ChatRequest): boolean {
  const isRetitled = other.session_id === null && one.title !== other.title;
  return one.message === other.message && one.mode === other.mode && !isRetitled;
}

function newAttempt(request: ChatRequest, context: CliContext): Attempt {
  const key = context.host.newRequestId();
  return { request, key, isAnswered: false, isBegun: false, isKept: false, isReturned: false };
}

export async function titleOf(sessionId: string, context: ServiceAccess): Promise<string | null> {
  const { backend } = await context.open();
  const { data } = await backend.service.getSession(await context.call(), sessionId);
  return typeof data.title === 'string' ? data.title : null;
}
