// A key is revoked while the REPL runs, and the profile gets another one in another terminal.
import { afterEach, expect, test } from 'vitest';
import type { Place } from '../../support/parley.ts';
import { type ServedPlace, servePlace } from '../../support/served-place.ts';
import { entered, leave, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
let served: ServedPlace | null = null;
afterEach(async () => {
  fixture.close();
  await served?.end('SIGKILL');
  served = null;
});

interface Key {
  readonly key: string;
  readonly key_id: string;
}

const newKey = (place: Place) => place.answer<Key>(['keys', 'create', '--project', 'p']);

test('at a server the message is sent once with the new key, and so are all later ones', async () => {
  const [place, client] = [fixture.place(), fixture.place()];
  const first = await newKey(place);
  served = await servePlace(place);
  const login = ['login', '--url', served.url, '--profile', 'work', '--key-stdin'];
  await client.output(login, { stdin: first.key });
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 200 }, client);
  await screen.stands('echo@work> ');
  expect(await entered(screen, 'one')).toBe('one');
  await place.output(['keys', 'revoke', first.key_id]);
  screen.type('two\r');
  await screen.shows('(INVALID_API_KEY) Log in with another key: parley login --profile work');
  await screen.stands('echo@work (one)> two');

  const second = await newKey(place);
  await client.output(login, { stdin: second.key });
  screen.type('\r');
  await screen.until('answered', () => screen.text.endsWith('\ntwo\n\necho@work (one)>'));
  expect(await entered(screen, '/title Both')).toMatch(/^Renamed /);
  await place.output(['keys', 'revoke', second.key_id]);
  await client.output(login, { stdin: (await newKey(place)).key });
  // Requests to the archive use the new key, too.
  expect(await entered(screen, '/history')).toMatch(/^You · now\none\n[\s\S]*\ntwo$/);
  const id = await leave(screen);
  const messages = await client.output(['sessions', 'messages', id]);
  expect(messages.match(/^two$/gm)).toHaveLength(2);
});

test('in the embedded service a replaced key causes no error', async () => {
  const place = fixture.place();
  await place.output(['models']);
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 200 }, place);
  await screen.stands('echo> ');
  expect(await entered(screen, 'one')).toBe('one');
  const [old] = await place.answer<readonly Key[]>(['keys', 'list']);
  await place.output(['keys', 'create', '--project', 'default', '--use']);
  await place.output(['keys', 'revoke', old?.key_id ?? '']);
  expect(await entered(screen, 'two')).toBe('two');
  await leave(screen);
});
