// One turn of `parley chat`: sends the message and shows the reply as it arrives. The caller reports a failure.
import type { CurrentSession } from '../config/current-session.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { SessionSettings } from '../service/session.ts';
import { composeMessage } from './chat-message.ts';
import type { ChatOutput } from './chat-output.ts';
import type { ChatInput } from './chat-plan.ts';
import type { CliContext } from './context.ts';
import { sessionToContinue } from './session-choice.ts';
import { type ModeOfTurn, sessionMode } from './session-mode.ts';
import { givenSettings, settingsOfNew } from './setting-options.ts';
import type { TemplateChoice } from './template-values.ts';

export interface ChatTurn extends Omit<ModeOfTurn, 'mode'> {
  /** Without a message if another reply to the last one is asked for. */
  readonly request: ChatRequest;
  readonly call: Call & { readonly idempotencyKey: string };
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
  const { mode, ...before } = await sessionMode(input.mode ?? template.mode, session, given, context);
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
  };
}

/** The copy has the same key each time that the turn is repeated, so that there is one. */
async function copyOf(
  { sessionId: id, mode }: CurrentSession,
  { title }: ChatInput,
  key: string,
  context: CliContext,
): Promise<CurrentSession> {
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

/** Runs the turn. `remember` is called with the session as soon as the message is stored. */
export async function runTurn(
  events: AsyncIterable<ChatEvent>,
  output: ChatOutput,
  remember: (sessionId: string) => Promise<void>,
): Promise<TurnOutcome> {
  let session: string | null = null;
  let isComplete = false;
  try {
    for await (const event of events) {
      if (event.event === 'session') {
        session = event.data.session_id;
        await remember(session);
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
