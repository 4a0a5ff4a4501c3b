// One turn of `parley chat`: sends the message and shows the reply as it arrives. The caller reports failures.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ChatStart } from '../service/chat-event.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import type { SessionSettings } from '../service/session.ts';
import { composeMessage } from './chat-message.ts';
import type { ChatOutput } from './chat-output.ts';
import type { ChatInput } from './chat-plan.ts';
import type { CliContext } from './context.ts';
import { refuseUnknownMode } from './mode-choice.ts';
import { type ContinuedSession, sessionToContinue } from './session-choice.ts';
import { type ModeOfTurn, modeToSend, sessionMode } from './session-mode.ts';
import { initialSettings, readSettings } from './setting-options.ts';
import { noValues, type TemplateChoice } from './template-values.ts';

export interface ChatTurn extends Omit<ModeOfTurn, 'mode'> {
  /** The message is empty if another reply to the last one is requested. */
  readonly request: ChatRequest;
  readonly call: Call & { readonly idempotencyKey: string };
  /** Reads the session to find its mode. */
  readonly findMode: () => Promise<ModeOfTurn>;
}

/**
 * How a turn ended. `session` is the session that stores the message; null if the message is not known to be stored. `hasText` is true if a
 * part of the reply arrived.
 */
export type TurnOutcome =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly session: string | null;
      readonly hasText: boolean;
    };

/** Prepares the turn. The message is read before any request, because a person may still be typing it. */
export async function prepareTurn(
  input: ChatInput,
  { buildMessage, ...template }: TurnTemplate,
  context: CliContext,
): Promise<ChatTurn> {
  const settings = await readSettings(input, template.settings, context.signal);
  const message = input.regenerate ? '' : await composeMessage(input, context, buildMessage);
  const continued = await sessionToContinue(input, context);
  const call = await context.call();
  const key = input.idempotencyKey ?? call.requestId;
  const named = input.mode ?? template.mode;
  if (input.fork && named !== null) await refuseUnknownMode(named, context);
  const session = input.fork && continued !== null ? await forkOf(continued, input, key, context) : continued;
  const findMode = () => sessionMode(named, session, settings, context);
  // The idempotency key of a regeneration is stored with the mode of its request.
  const modeOfTurn = input.regenerate ? findMode() : modeToSend(named, session, settings, context);
  const { mode, ...previous } = await modeOfTurn;
  const title = input.title ?? template.title;
  return {
    request: {
      mode,
      message,
      session_id: session?.sessionId ?? null,
      ...(session === null && title !== null && { title }),
      ...(session === null && initialSettings(settings)),
      ...(input.user !== undefined && { user: input.user }),
    },
    call: { ...call, idempotencyKey: key, showReasoning: input.reasoning ?? false },
    ...previous,
    findMode,
  };
}

/** Copies the session. The key of the copy follows from the key of the turn, so repeating the turn makes no second copy. */
async function forkOf(
  { sessionId: id, mode }: ContinuedSession,
  { title }: ChatInput,
  key: string,
  context: CliContext,
): Promise<ContinuedSession> {
  const { forkSession } = await import('./commands/sessions/fork.ts');
  const { data } = await forkSession(
    id,
    title === undefined ? {} : { title },
    context,
    `${key.slice(0, 250)}.fork`,
  );
  await context.say(`Continuing in a copy of ${id}: ${data.session_id}`);
  return { sessionId: data.session_id, mode: data.mode ?? mode };
}

export interface TurnTemplate {
  readonly mode: string | null;
  readonly title: string | null;
  readonly settings: SessionSettings | null;
  /** The file of the schema; null for none. */
  readonly schema: string | null;
  /** Turns the user's input into the message. */
  readonly buildMessage: (input: string) => string;
}

/** What a template sets for a turn. Without a template it sets nothing, and the message is the user's input. */
export async function turnTemplateOf(input: TemplateChoice, context: CliContext): Promise<TurnTemplate> {
  if (input.template === undefined && input.set === undefined)
    return { mode: null, title: null, settings: null, schema: null, buildMessage: (text: string) => text };
  const { chosenTemplate, filledTemplate, schemaOf } = await import('./chat-template.ts');
  const template = await chosenTemplate(input, context);
  return {
    mode: template.mode,
    title: template.title,
    settings: template,
    schema: schemaOf(template),
    buildMessage: (text: string) =>
      filledTemplate(template, input.set ?? noValues, text === '' ? null : text),
  };
}

/** The events of a turn. If the service refuses a turn without a mode, the mode is looked up and the turn is sent again. */
export async function* retryWithMode(
  send: () => AsyncIterable<ChatEvent>,
  /** Resolves to false if the turn already has a mode. */
  findMode: () => Promise<boolean>,
): AsyncGenerator<ChatEvent> {
  try {
    yield* send();
  } catch (error) {
    const isRefused = error instanceof ParleyError && error.session_id === null;
    if (!isRefused || !missingModeCodes.includes(error.code) || !(await findMode())) throw error;
    yield* send();
  }
}

/** The codes with which a service refuses a request without a mode. It has stored nothing then. */
const missingModeCodes: readonly ErrorCode[] = ['INVALID_REQUEST', 'UNKNOWN_MODE'];

/** Runs the turn. `remember` is called with the session as soon as the message is stored. */
export async function runTurn(
  events: AsyncIterable<ChatEvent>,
  output: ChatOutput,
  remember: (session: ChatStart) => Promise<void>,
): Promise<TurnOutcome> {
  let session: string | null = null;
  let hasText = false;
  let isComplete = false;
  try {
    for await (const event of events) {
      if (event.event === 'session') {
        session = event.data.session_id;
        await remember(event.data);
      }
      hasText ||= event.event === 'delta' || event.event === 'done';
      await output.write(event);
      if (event.event === 'done') isComplete = true;
    }
    if (isComplete) return { kind: 'done' };
    throw new ParleyError('INCOMPLETE_REPLY', 'The reply ended before it was complete.', {
      hint: 'Try again.',
    });
  } catch (error) {
    // The output itself may be what failed.
    await output.fail(error).catch(() => {});
    return { kind: 'failed', error, session, hasText };
  }
}
