// One real turn with a mode, to check that it replies. Its session is deleted afterwards, so that no list shows it.
import type { ChatReply } from '../../../service/chat-event.ts';
import { ParleyError } from '../../../service/errors.ts';
import { unknownMode } from '../../../service/unknown-mode.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import type { CliContext } from '../../context.ts';

export interface TrialTurn {
  readonly reply: ChatReply;
  readonly milliseconds: number;
}

export async function trialTurn(mode: string, context: CliContext): Promise<TrialTurn> {
  const { backend } = await context.open();
  const call = await context.call();
  const names = (await backend.service.models(call)).data.map(({ name }) => name);
  if (!names.includes(mode)) throw unknownMode(mode, names);
  await context.say(`Sending ${mode} one question, to check that it replies…`);
  const startedAt = monotonicMs();
  let session: string | null = null;
  try {
    const request = { mode, message: 'Say hello in one short sentence.', session_id: null };
    for await (const event of backend.service.chat(call, request, 'chunks')) {
      if (event.event === 'session') session = event.data.session_id;
      if (event.event === 'done')
        return { reply: event.data, milliseconds: Math.round(monotonicMs() - startedAt) };
    }
    throw new ParleyError('INCOMPLETE_REPLY', `Mode ${mode} did not finish its reply.`);
  } finally {
    if (session !== null)
      await backend.service.deleteSession({ ...call, signal: new AbortController().signal }, session);
  }
}

/** The original failure of the engine, without the session, which is deleted. */
export function withoutSession(failure: ParleyError): ParleyError {
  const { code, cause } = failure;
  const original = cause instanceof ParleyError && cause.code === code ? cause : failure;
  return original.with({ session_id: null, message_id: null });
}
