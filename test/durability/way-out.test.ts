// After a refusal or a mistake the user can continue, and nothing half-done is left.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Place } from '../support/parley.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

test('the key of the profile can be replaced after it was revoked', async () => {
  const { data } = JSON.parse(await place.output(['verify', '--json']));
  await place.output(['keys', 'revoke', data.key_id]);
  const refused = await place.parley(['verify']);
  expect(refused.status).toBe(4);
  expect(refused.err).toContain('parley keys create --project default --use');
  await place.output(['keys', 'create', '--project', 'default', '--use']);
  expect(JSON.parse(await place.output(['verify', '--json'])).data).toMatchObject({
    project_id: data.project_id,
    key_id: expect.not.stringMatching(data.key_id),
  });
});

test('a message over the limit creates no session, also with a title', async () => {
  const words = ['chat', '--title', 'Plans', '--mode', 'echo', 'Read this:'];
  const { status, err } = await place.parley(words, { stdin: 'x'.repeat(1024 * 1024) });
  expect(status).toBe(2);
  expect(err).toContain('PAYLOAD_TOO_LARGE');
  expect(await place.output(['sessions', 'list', '--deleted'])).toBe('');
});

test.each([
  ['in a mode that there is not', ['-m', 'oracle', 'hello'], 'UNKNOWN_MODE'],
  ['of white space', [' '], 'INVALID_REQUEST'],
])('a message %s makes no session, whatever its title', async (_, words, code) => {
  const { status, err } = await place.parley(['chat', '--title', 'Plans', ...words]);
  expect(status).toBe(2);
  expect(err).toContain(code);
  expect(await place.output(['sessions', 'list'])).toBe('');
  expect(await place.output(['sessions', 'list', '--deleted'])).toBe('');
});
