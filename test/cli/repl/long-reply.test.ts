// Ctrl-C during a reply that is slow to render: it works at once, and the received part is stored.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewSession, Page } from '../../../src/service/session.ts';
import { openPacedModel, type PacedModel } from '../../support/paced-model.ts';
import type { Place } from '../../support/parley.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { leave, messagesOf, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
let place: Place;
let model: PacedModel;
beforeAll(async () => {
  place = fixture.place();
  model = await openPacedModel();
  await place.output(['modes', 'add', 'slow', '--base-url', model.url, '--model', 'm']);
});
afterAll(async () => {
  fixture.close();
  await model.close();
});

const replyLength = 400_000;
/** A busy machine may delay some key presses, but not all. */
const presses = 10;
const patienceMs = 20_000;

/**
 * Presses Ctrl-C while the next reply is drawn, and returns the time (ms) until the text is shown. It is infinite if the program
 * ends without the text: node-pty drops output that it has not read 200 ms after the end.
 */
async function stopped(screen: TerminalScreen, text: RegExp): Promise<number> {
  const before = screen.bytes.length;
  const written = () => screen.bytes.slice(before);
  const reply = await model.next();
  for (let piece = 0; piece < 4; piece += 1) reply.say('['.repeat(replyLength / 4));
  await screen.until('the brackets', () => written().includes('[['));
  let hasEnded = false;
  void screen.ended.then(() => {
    hasEnded = true;
  });
  const pressed = performance.now();
  screen.type('\x03');
  while (!text.test(written())) {
    if (hasEnded) return Number.POSITIVE_INFINITY;
    if (performance.now() - pressed > patienceMs) throw new Error(`never shown: ${written().slice(-300)}`);
    await delay(1);
  }
  return performance.now() - pressed;
}

/** The best of some times, measured only as often as needed. */
async function least(measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let press = 0; press < presses && best > 100; press += 1) best = Math.min(best, await measure());
  return best;
}

async function expectInterrupted(id: string): Promise<void> {
  const { finish_reason, content = '' } = (await messagesOf(place, id)).at(-1) ?? {};
  expect(finish_reason).toBe('interrupted');
  expect(content).toMatch(/^\[+$/);
  expect(content.length).toBeLessThanOrEqual(replyLength);
}

test('Ctrl-C in 400,000 brackets shows the prompt within 100 ms, and stores the received part', async () => {
  const screen = fixture.open(['repl', '-m', 'slow'], {}, place);
  await screen.stands('slow> ');
  const took = await least(() => {
    screen.type('Hello\r');
    return stopped(screen, /the partial reply is kept[\s\S]*> /);
  });
  expect(took).toBeLessThanOrEqual(100);
  await expectInterrupted(await leave(screen));
});

test('Ctrl-C in 400,000 brackets stops a chat within 100 ms, and stores the received part', async () => {
  const took = await least(async () => {
    const screen = fixture.open(['chat', '-m', 'slow', 'Hello'], {}, place);
    const milliseconds = await stopped(screen, /The reply so far is kept in session/);
    expect(await screen.ended).toEqual({ status: 130, signal: 0 });
    return milliseconds;
  });
  expect(took).toBeLessThanOrEqual(100);
  const { items } = await place.answer<Page<NewSession>>(['sessions', 'list', '--limit', '1']);
  await expectInterrupted(items[0]?.session_id ?? '');
});
