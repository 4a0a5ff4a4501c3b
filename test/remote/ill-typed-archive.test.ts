// A server that offers an archive whose records have another shape: every command that reads them reports it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const record = {
  session_id: 7,
  title: {},
  updated_at: 0,
  content: [],
  session: { session_id: null },
  hits: 'x',
};
const place = new Place();
let server: ScriptedServer;
beforeAll(async () => {
  server = await serve(({ path }, response) => {
    response.setHeader('Parley-Extensions', 'archive, idempotency');
    const data = path.endsWith('/verify')
      ? { project_id: 'p' }
      : { items: [record, record], next_cursor: null };
    sendJson(response, { success: true, data });
  });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

test.each([
  [['sessions', 'list']],
  [['sessions', 'list', '--ids', '--all']],
  [['sessions', 'search', 'x']],
  [['sessions', 'messages', 's']],
  [['sessions', 'restore', 'ses_a', 'ses_b']],
  [['sessions', 'delete', '--all', '--yes']],
])('%j ends with BAD_RESPONSE', async (words) => {
  const outcome = await place.parley(words, { env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'k' } });
  if (words.includes('restore')) {
    expect(outcome).toMatchObject({
      status: 3,
      out: 'failed ses_a BAD_RESPONSE\nfailed ses_b BAD_RESPONSE\n',
    });
  } else {
    expectFailure(outcome, { status: 1, code: 'BAD_RESPONSE' });
  }
});

test('a batch deletion with such a response does not count as done', async () => {
  const words = ['sessions', 'delete', 'ses_a', 'ses_b', '--yes'];
  const { status, out } = await place.parley(words, {
    env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'k' },
  });
  expect([status, out]).toEqual([3, 'failed ses_a BAD_RESPONSE\nfailed ses_b BAD_RESPONSE\n']);
});
