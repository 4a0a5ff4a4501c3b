// One turn of `parley chat`: sends the message and shows the reply as it arrives. The caller reports a failure.
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ChatStart } from '../service/chat-event.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import type { SessionSettings } from '../service/session.ts';
import { composeMessage } from './chat-message.ts';
import type { ChatOutput } from './chat-output.ts';
import type { ChatInput } from './chat-plan.ts';
import type { CliContext } from './context.ts';
import { type ContinuedSession, sessionToContinue } from './session-choice.ts';
import { type ModeOfTurn, modeToSend, sessionMode } from './session-mode.ts';
import { givenSettings, settingsOfNew } from './setting-options.ts';
import type { TemplateChoice } from './template-values.ts';

export interface ChatTurn extends Omit<ModeOfTurn, 'mode'> {
  /** Without a message if another reply to the last one is asked for. */
  readonly request: ChatRequest;
  readonly call: Call & { readonly idempotencyKey: string };
  /** Looks at the session for its mode. */
  readonly findMode: () => Promise<ModeOfTurn>;
}

/** The end of a turn. `session` is the session that stores the message; null if the message is not known to be stored. */
export type TurnOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly session: string | null };

/** Prepares the turn. The message is read before the service is asked, because a person may still be typing it. */
export async function prepareTurn(
  input: ChatInput,
  { make, ...template }: TemplateOfTurn,
  context: CliContext,
): Promise<ChatTurn> {
  const given = await givenSettings(input.settings, template.settings, context.signal);
  const message = input.regenerate ? '' : await composeMessage(input, context, make);
  const continued = await sessionToContinue(input, context);
  const call = await context.call();
  const key = input.idempotencyKey ?? call.requestId;
  const session = input.fork && continued !== null ? await copyOf(continued, input, key, context) : continued;
  const named = input.mode ?? template.mode;
  const findMode = () => sessionMode(named, session, given, context);
  // The key of another reply is stored with the mode as it was named.
  const known = input.regenerate ? findMode() : modeToSend(named, session, given, context);
  const { mode, ...before } = await known;
  const title = input.title ?? template.title;
  return {
    request: {
      mode,
      message,
      session_id: session?.sessionId ?? null,
      ...(session === null && title !== null && { title }),
      ...(session === null && settingsOfNew(given)),
      ...(input.user !== null && { user: input.user }),
    },
    call: { ...call, idempotencyKey: key, showReasoning: input.reasoning },
    ...before,
    findMode,
  };
}

/** The copy has the same key each time that the turn is repeated, so that there is one. */
async function copyOf(
  { sessionId: id, mode }: ContinuedSession,
  { title }: ChatInput,
  key: string,
  context: CliContext,
): Promise<ContinuedSession> {
  const { forkSession } = await import('./commands/sessions/fork.ts');
  const { data } = await forkSession({ id, at: null, title }, context, `${key.slice(0, 250)}.fork`);
  await context.say(`The session goes on in a copy of ${id}: ${data.session_id}`);
  return { sessionId: data.session_id, mode: data.mode ?? mode };
}

export interface TemplateOfTurn {
  readonly mode: string | null;
  readonly title: string | null;
  readonly settings: SessionSettings | null;
  /** The file of the schema; null for none. */
  readonly schema: string | null;
  /** Makes the message of what was given. */
  readonly make: (given: string) => string;
}

/** What a template gives to a turn. Without a template it gives nothing, and the message is what was given. */
export async function templateOfTurn(input: TemplateChoice, context: CliContext): Promise<TemplateOfTurn> {
  if (input.template === null && input.values.size === 0)
    return { mode: null, title: null, settings: null, schema: null, make: (given: string) => given };
  const { chosenTemplate, filledTemplate, schemaOf } = await import('./chat-template.ts');
  const template = await chosenTemplate(input, context);
  return {
    mode: template.mode,
    title: template.title,
    settings: template,
    schema: schemaOf(template),
    make: (given: string) => filledTemplate(template, input.values, given === '' ? null : given),
  };
}

/** The events of a turn. If the service refuses a turn without a mode, it is asked again with the one that is found. */
export async function* inFoundMode(
  ask: () => AsyncIterable<ChatEvent>,
  /** False if the turn has a mode. */
  findMode: () => Promise<boolean>,
): AsyncGenerator<ChatEvent> {
  try {
    yield* ask();
  } catch (error) {
    const isRefused = error instanceof ParleyError && error.session_id === null;
    if (!isRefused || !refusals.includes(error.code) || !(await findMode())) throw error;
    yield* ask();
  }
}

/** The codes that a service refuses a request without a mode with. Nothing was stored. */
const refusals: readonly ErrorCode[] = ['INVALID_REQUEST', 'UNKNOWN_MODE'];

/** Runs the turn. `remember` is called with the session as soon as the message is stored. */
export async function runTurn(
  events: AsyncIterable<ChatEvent>,
  output: ChatOutput,
  remember: (session: ChatStart) => Promise<void>,
): Promise<TurnOutcome> {
  let session: string | null = null;
  let isComplete = false;
  try {
    for await (const event of events) {
      if (event.event === 'session') {
        session = event.data.session_id;
        await remember(event.data);
      }
      await output.take(event);
      if (event.event === 'done') isComplete = true;
    }
    if (isComplete) return { kind: 'done' };
    throw new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.', { hint: 'Try again.' });
  } catch (error) {
    await output.fail(error);
    return { kind: 'failed', error, session };
  }
}
