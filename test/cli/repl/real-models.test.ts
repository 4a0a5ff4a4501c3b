// The REPL with model servers: the notes about a turn are shown there, too.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replyOf, sendStream } from '../../support/model-server.ts';
import { type ScriptedServer, sendJson, serve } from '../../support/scripted-server.ts';
import { entered, leave, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: ScriptedServer;
beforeEach(async () => {
  server = await serve((request, response) =>
    request.body.includes('"broken"')
      ? sendJson(response, { error: { message: 'No luck' } }, 500)
      : sendStream(response, replyOf('Hello')),
  );
});
afterEach(async () => {
  fixture.close();
  await server.close();
});

test('notes name the mode that replied in place of another, the omitted turns, and the tokens', async () => {
  const place = fixture.place();
  const add = (name: string, ...more: readonly string[]) =>
    place.output(['modes', 'add', name, '--base-url', server.url, ...more]);
  await add('small', '--model', 'm', '--context', '256');
  await add('large', '--model', 'broken', '--fallback', 'small');
  const screen = fixture.open(['repl', '-m', 'large'], { columns: 200 }, place);
  await screen.stands('large> ');
  screen.type(`${'word '.repeat(150)}\r`);
  await screen.shows('\nHello\nThe mode large failed: its server ');
  await screen.shows(' The mode small replied.\n');
  await screen.until('the prompt', () => /large \(.*\)> $/.test(screen.text) || screen.text.endsWith(')>'));
  screen.type('short\r');
  await screen.shows('\n1 earlier turn was left out: the conversation is estimated');
  screen.type('/status\r');
  await screen.shows('\nlast reply, tokens: 11 in, 3 out');
  await leave(screen);
});

test('the failure of a model ends with a full stop, and one line says how to retry', async () => {
  const place = fixture.place();
  await place.output(['modes', 'add', 'large', '--base-url', server.url, '--model', 'broken']);
  const screen = fixture.open(['repl', '-m', 'large'], { columns: 400 }, place);
  await screen.stands('large> ');
  screen.type('Hello\r');
  await screen.shows(' failed (500). It says: No luck. (ENGINE_FAILED) The message is kept in session ses_');
  await screen.shows(' Enter sends it again.');
  expect(screen.text).not.toContain('Try again');
});

test('a remedy that ends with a command is a line of its own, and the next line says how to retry', async () => {
  const place = fixture.place();
  const nobody = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm'];
  await place.output(['modes', 'add', 'away', ...nobody]);
  const screen = fixture.open(['repl', '-m', 'away'], { columns: 400 }, place);
  await screen.stands('away> ');
  screen.type('Hello\r');
  await screen.shows('Check its address: parley modes show away\nEnter sends it again.\naway (Hello)> Hello');
});

test('modes that are added, changed and removed elsewhere are used from the next message on', async () => {
  const place = fixture.place();
  await place.output(['models']);
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 200 }, place);
  await screen.stands('echo> ');
  expect(await entered(screen, '/mode late')).toContain('There is no mode "late".');
  await place.output(['modes', 'add', 'late', '--base-url', server.url, '--model', 'first']);
  screen.type('/mode la\t');
  await screen.stands('echo> /mode late');
  screen.type('\r');
  await screen.stands('late> ');
  const model = () => JSON.parse(server.requests.at(-1)?.body ?? '{}').model;
  expect([await entered(screen, 'One'), model()]).toEqual(['Hello', 'first']);
  await place.output(['modes', 'set', 'late', '--model', 'second']);
  expect([await entered(screen, 'Two'), model()]).toEqual(['Hello', 'second']);

  // A mode that was edited wrongly fails when it is used, and does not affect others.
  const stored = readFileSync(place.configFile, 'utf8');
  writeFileSync(place.configFile, stored.replace('"second"', '7'));
  screen.type('Three\r');
  await screen.shows('modes.late.model must be a non-empty text. (CONFIG)');
  await screen.stands('late (One)> Three');
  screen.type('\x15');
  screen.type('/mode\r');
  await screen.shows('faulty: its settings break a rule');
  await screen.stands('late (One)> ');
  writeFileSync(place.configFile, stored);

  await place.output(['modes', 'remove', 'late']);
  screen.type('Four\r');
  await screen.shows('There is no mode "late". (UNKNOWN_MODE)');
  await screen.stands('late (One)> Four');
});

test('/retry repeats a message that failed before the session was continued, and the model and the session get it once', async () => {
  const place = fixture.place();
  const add = (name: string, model: string) =>
    place.output(['modes', 'add', name, '--base-url', server.url, '--model', model]);
  await add('large', 'broken');
  await add('small', 'm');
  expect((await place.parley(['chat', '-n', '-m', 'large', 'What is it?'])).status).toBe(1);
  const id = (await place.output(['sessions', 'list', '--ids'])).trim();
  const screen = fixture.open(['repl', '-m', 'small', '-s', id], { columns: 200 }, place);
  await screen.shows('[the reply was cut off: error]');
  await screen.stands('small (What is it?)> ');
  screen.type('/retry\r');
  await screen.shows('/retry\nHello\n');
  const { messages } = JSON.parse(server.requests.at(-1)?.body ?? '') as { messages: unknown };
  expect(messages).toEqual([{ role: 'user', content: 'What is it?' }]);
  await leave(screen);
  expect(await place.answer(['sessions', 'messages', id])).toMatchObject({
    items: [{ content: 'What is it?' }, { content: 'Hello', mode: 'small' }],
  });
  const answered = fixture.open(['repl', '-m', 'small', '-s', id], { columns: 200 }, place);
  await answered.stands('small (What is it?)> ');
  answered.type('/retry\r');
  await answered.shows('The last reply is complete; /regenerate asks for another one.');
  await leave(answered);
});
