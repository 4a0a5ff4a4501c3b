// Several processes at one store: the turns of a session run one after the other, and none is lost; and a turn of a suspended process.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOf, Place } from '../support/parley.ts';
import { lookInto } from '../support/raw-database.ts';
import { runs } from '../support/runs.ts';
import { sinceBoot } from '../support/store-options.ts';
import { storedMessages, storeFaults } from '../support/stored-turns.ts';

/** Processes that do the same at the same time. */
const many = runs(5, 8);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

/** Runs the task `count` times, `atOnce` at a time, and returns the results in order. */
async function inTurn<T>(count: number, atOnce: number, run: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await run(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

test(`${many} processes chat in one session at once: all succeed, their turns one after the other`, async () => {
  const session = await place.newSession();
  // Long enough that no turn ends before the next process wants its turn.
  const messages = Array.from({ length: many }, (_, index) => `${index} ${'word '.repeat(20_000)}`);
  const replies = await inTurn(many, many, (index) =>
    place.output(['chat', '--mode', 'echo', '-s', session], { stdin: messages[index] ?? '' }),
  );
  expect(replies.map((reply) => reply.slice(0, -1))).toEqual(messages);
  const stored = storedMessages(place);
  expect(stored).toHaveLength(2 * many);
  expect(
    stored
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content)
      .sort(),
  ).toEqual(messages);
  expect(stored.filter(({ finish_reason }) => finish_reason === 'stop')).toHaveLength(many);
  expect(storeFaults(place)).toEqual([]);
});

// concurrency.long.ts has more of them.
test('eight processes, four at a time, create eight sessions', async () => {
  await place.output(['verify']);
  const made = await inTurn(8, 4, () => place.newSession());
  const listed = (await place.output(['sessions', 'list', '--all', '--ids'])).trim().split('\n');
  expect(new Set(made).size).toBe(8);
  expect(listed.sort()).toEqual([...made].sort());
}, 120_000);

test(`${many} processes whose first use is at the same moment agree on one key`, async () => {
  const identities = await inTurn(many, many, () => place.output(['verify', '--json']));
  expect(new Set(identities).size).toBe(1);
  const keys = JSON.parse(await place.output(['keys', 'list', '--json'])).data;
  const valid = keys.filter((key: { revoked_at: string | null }) => key.revoked_at === null);
  expect(valid.map((key: { key_id: string }) => key.key_id)).toEqual([
    JSON.parse(identities[0] ?? '').data.key_id,
  ]);
});

test('the turn of a suspended process is taken over, and its received text is stored when the process resumes', async () => {
  const session = await place.newSession();
  const message = 'word '.repeat(200_000);
  const first = place.spawn(['chat', '--mode', 'echo', '-s', session], { stdin: message });
  await new Promise((resolve) => first.stdout?.once('readable', resolve));
  first.kill('SIGSTOP');
  // Longer than the time between two checks whether the turn is still held.
  const asksAgain = delay(1500);
  // The process still exists, so only the end of its lease frees the session. The lease lasts seconds, so the test ends it here.
  lookInto(place.storeFile, (database) => {
    const leases = database.prepare('SELECT turn_until FROM sessions').pluck().all();
    expect(leases).toEqual([expect.any(Number)]);
    expect(Number(leases[0]) - sinceBoot()).toBeLessThanOrEqual(15_000);
    database.prepare('UPDATE sessions SET turn_until = ?').run(sinceBoot());
  });
  expect(await place.output(['chat', '-n', '--mode', 'echo', '-s', session, 'second'])).toBe('second\n');
  expect(storedMessages(place)[1]).toMatchObject({ content: '', finish_reason: 'interrupted' });

  await asksAgain;
  first.kill('SIGCONT');
  first.stdout?.resume();
  expect(await endOf(first)).toEqual({ status: 6, signal: null });
  const stored = storedMessages(place);
  expect(stored.map(({ finish_reason }) => finish_reason)).toEqual([null, 'interrupted', null, 'stop']);
  expect(stored[1]?.content).not.toBe('');
  expect(storeFaults(place)).toEqual([]);
}, 60_000);

test('renaming, deleting, restoring and chatting at once leave a session whole', async () => {
  const session = await place.newSession();
  const commands = [
    (index: number) => ['chat', '-n', '--mode', 'echo', '-s', session, `message ${index}`],
    (index: number) => ['sessions', 'rename', session, `title ${index}`],
    () => ['sessions', 'delete', session],
    () => ['sessions', 'restore', session],
  ];
  const outcomes = await inTurn(12, 4, (index) => place.parley(commands[index % 4]?.(index) ?? []));
  // Each process finds the session active or deleted.
  expect(outcomes.filter(({ status }) => status !== 0 && status !== 5)).toEqual([]);
  const acknowledged = outcomes.filter(({ status }, index) => index % 4 === 0 && status === 0).length;
  expect(storedMessages(place).filter(({ finish_reason }) => finish_reason === 'stop')).toHaveLength(
    acknowledged,
  );
  expect(storeFaults(place)).toEqual([]);
});
