// The response to a repeated key whose turn was cut before its reply had any text.
import { expect, it } from 'vitest';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

it('is no reply: the turn is incomplete, and names its session', async () => {
  const data = { session_id: 'ses_1', message_id: 'msg_2', reply: '', finish_reason: 'interrupted' };
  const server = await serve((_request, response) => sendJson(response, { success: true, data }));
  const { backend } = await openRemote(server.url);
  try {
    const request = { mode: 'echo', message: 'Hello', session_id: 'ses_1' };
    const failure = await failureOf(collect(backend.service.chat(callWith('k'), request, 'whole')));
    expect(failure).toMatchObject({ code: 'INCOMPLETE_REPLY', session_id: 'ses_1' });
    expect(failure.message).toBe('The turn was cut before its reply had any text. Its message is kept.');
  } finally {
    await backend.close();
    await server.close();
  }
});
