// A session that is too long for one request to a server is refused before it is sent; the other sessions are imported.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';

const time = '2026-01-01T00:00:00.000Z';

/** It is long by its replies, which have no limit. */
function recordOf(session_id: string, characters: number): string {
  const of = (position: number) => ({
    ...{ message_id: `msg_${session_id}_${position}`, position, role: position % 2 ? 'assistant' : 'user' },
    ...{ content: position % 2 ? 'x'.repeat(characters) : 'hi', mode: 'echo' },
    ...{ finish_reason: position % 2 ? 'stop' : null, usage: null, created_at: time },
  });
  const session = { session_id, title: null, created_at: time, updated_at: time, message_count: 2 };
  return `${JSON.stringify({ session, messages: [of(0), of(1)] })}\n`;
}

test('a session over the limit fails alone with the limit, its size and the remedy, and an embedded store accepts it', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['models']);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const served = await servePlace(place);
  onTestFinished(async () => void (await served.end('SIGTERM')));
  const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
  const file = join(place.path, 'export.jsonl');
  writeFileSync(file, recordOf('ses_long', 9_000_000) + recordOf('ses_short', 10));

  const { status, out, err } = await place.parley(['sessions', 'import', file], { env });
  expect([status, out]).toEqual([3, 'failed ses_long PAYLOAD_TOO_LARGE\nimported ses_short\n']);
  expect(err).toMatch(
    /session is 9000\d\d\d bytes long as a request; a server accepts at most 8388608 \(8 MiB\)/,
  );
  expect(err).toContain('Nothing was sent.');
  expect(await place.output(['sessions', 'import', file])).toBe('imported ses_long\nunchanged ses_short\n');
});
