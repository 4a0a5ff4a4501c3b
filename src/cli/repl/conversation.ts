// The conversation that a REPL holds: its mode, its session and the turn that was last tried. One turn is run here, from the message to
// its end. Other files read the lines and run the commands.
import { isDeepStrictEqual } from 'node:util';
import type { Call } from '../../service/call.ts';
import type { ChatEvent, ChatRequest, ChatRequestInMode } from '../../service/chat-event.ts';
import { ParleyError } from '../../service/errors.ts';
import type { Usage } from '../../service/session.ts';
import type { CliContext, ServiceAccess } from '../context.ts';
import { firstReplyNote } from '../first-reply-note.ts';
import { chooseMode, withModeOfSession } from '../mode-choice.ts';
import { type GivenSettings, initialSettings, noSettings } from '../setting-options.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { turnNotes } from '../turn-notes.ts';
import { lastTurn } from './last-messages.ts';
import { shownReply } from './shown-reply.ts';
import { streamTurn } from './streamed-turn.ts';

export interface ConversationOptions {
  readonly mode: string | null;
  readonly markdown: MarkdownChoice;
  /** The person whose the new sessions are; null or missing for nobody. */
  readonly user?: string | null;
}

/** A message as it was sent, or a request for another reply to the last one, and the key that a repetition uses. */
export interface Attempt {
  /** Without a message if another reply is asked for. */
  readonly request: ChatRequestInMode;
  /** True: another reply to the last message of the session is asked for. */
  readonly regenerates: boolean;
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

/** A template that waits for its input. */
export interface PendingTemplate {
  readonly name: string;
  /** Makes the message of what was typed. */
  readonly make: (typed: string) => string;
}

export class Conversation {
  readonly #options: ConversationOptions;
  /** The mode that the entered session was in. */
  #modeOfSession: string | null = null;
  mode: string | null;
  /** The person whose the new sessions are; null for nobody. */
  readonly user: string | null;
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
  /** The settings of the session that the next message creates. */
  settings: GivenSettings = noSettings;
  /** Makes the next message of what is typed; null for none. */
  template: PendingTemplate | null = null;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.mode = options.mode;
    this.user = options.user ?? null;
  }

  /** Sends further messages to this session. Null for a session that the next message creates. */
  enter(sessionId: string | null, title: string | null): void {
    this.sessionId = sessionId;
    this.title = title;
    this.settings = noSettings;
    this.forget();
  }

  /** The last turn is not that of this REPL any more: it was taken back, or is of another session. */
  forget(): void {
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

  /** Repeats what failed. A complete reply stays: that is said. */
  async retry(context: CliContext): Promise<void> {
    const { last } = this;
    if (last === null) return this.#retryKept(context);
    if (last.isAnswered) return sayComplete(context);
    if (last.regenerates) return this.#turn(await this.#again(last, context), context);
    const mode = await this.knownMode(context);
    if (mode !== last.request.mode) {
      await context.say(`In another mode this is another turn: ${mode}.`);
      return this.#turn(newAttempt(this.#request(mode, last.request.message), context), context);
    }
    await this.#turn(await this.#again(last, context), context);
  }

  /** Asks for another reply to the last message of the session. Null for the mode that is in use. */
  async regenerate(mode: string | null, context: CliContext): Promise<void> {
    const { sessionId: session_id } = this;
    if (session_id === null) throw nothingToRepeat();
    const request = { mode: mode ?? (await this.knownMode(context)), message: '', session_id };
    await this.#turn({ ...newAttempt(request, context), regenerates: true }, context);
  }

  #request(mode: string, message: string): ChatRequestInMode {
    const { sessionId: session_id, title, user } = this;
    if (session_id !== null) return { mode, message, session_id };
    const begun = { ...(title !== null && { title }), ...(user !== null && { user }) };
    return { mode, message, session_id, ...begun, ...initialSettings(this.settings) };
  }

  /**
   * For a session that is continued: the message at its end that has no whole reply. Its key is lost, because the process that sent it
   * has ended. A service that can ask for another reply stores nothing twice; elsewhere the message is sent again as another turn.
   */
  async #retryKept(context: CliContext): Promise<void> {
    const { sessionId } = this;
    if (sessionId === null) throw nothingToRepeat();
    const turn = await lastTurn(sessionId, context);
    if (turn === null) throw nothingToRepeat();
    if (turn.isAnswered) return sayComplete(context);
    const { backend } = await context.open();
    if (backend.extensions?.includes('lines')) return this.regenerate(null, context);
    const mode = await this.knownMode(context);
    await context.say('The key of the last message is not known here: this sends it again as another turn.');
    await this.#turn(newAttempt(this.#request(mode, turn.message), context), context);
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
    const { last: before } = this;
    this.last = { ...attempt, isBegun: false, isReturned: false };
    const call = { ...(await context.call()), idempotencyKey: attempt.key };
    const shown = await shownReply(this.#options.markdown, context);
    const notes: string[] = [];
    const firstNote = await firstReplyNote(attempt.request.mode, context);
    let title: Promise<void> | null = null;
    try {
      const told = { ...call, notice: shown.notice };
      const complete = await streamTurn(await eventsOf(attempt, told, context), shown, (event) => {
        if (event.event === 'session') title = this.#entered(event.data.session_id, attempt, context);
        else if (event.event === 'done') this.reply = event.data.reply;
        else if (event.event === 'delta') {
          this.reply = (this.last?.isBegun ? this.reply : '') + event.data.text;
          this.last = { ...(this.last ?? attempt), isBegun: true };
        }
      });
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
      // Nothing was sent to a server that makes no other replies, so the turn before stays the last one.
      if (attempt.regenerates && error instanceof ParleyError && error.code === 'UNSUPPORTED') {
        this.last = before;
        throw error;
      }
      this.last = { ...this.last, isReturned: !context.signal.aborted && !attempt.regenerates };
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
    this.settings = noSettings;
    if (attempt.regenerates) this.goOnIn(attempt.request.mode);
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
  const isSame = one.message === other.message && one.mode === other.mode;
  return isSame && (other.session_id !== null || isDeepStrictEqual(newSessionOf(one), newSessionOf(other)));
}

function newSessionOf({ title, system, parameters, user }: ChatRequest) {
  return { title, system, parameters, user };
}

function newAttempt(request: ChatRequestInMode, context: CliContext): Attempt {
  const key = context.host.newRequestId();
  const regenerates = false;
  return { request, regenerates, key, isAnswered: false, isBegun: false, isKept: false, isReturned: false };
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

function nothingToRepeat(): ParleyError {
  return new ParleyError('USAGE', 'There is no message to send again.', { hint: 'Send one first.' });
}

async function sayComplete(context: CliContext): Promise<void> {
  const { backend } = await context.open();
  const canAsk = backend.extensions?.includes('lines') ?? false;
  const how = canAsk ? '/regenerate asks for another one' : 'send the message again to ask once more';
  await context.say(`The last reply is complete: ${how}.`);
}

export async function titleOf(sessionId: string, context: ServiceAccess): Promise<string | null> {
  const { backend } = await context.open();
  const { data } = await backend.service.getSession(await context.call(), sessionId);
  return typeof data.title === 'string' ? data.title : null;
}
