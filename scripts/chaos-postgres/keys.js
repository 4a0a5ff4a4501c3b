// Tests idempotency keys: eight requests with each key, half of them at either server, while backends and servers are killed. Each key has one
// effect, and its eight responses are equal. Half of the keys create a session, half are turns.
import { setTimeout as delay } from 'node:timers/promises';
import { send } from './requests.js';

const timesEach = 8;
/** Keys at a time, for 32 concurrent requests. */
const keysAtOnce = 4;

export async function runKeys(world, count) {
  const { callers, ledger } = world;
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await useKey(world, `key-${next}`, next % 2 === 0);
    }
  };
  let isOver = false;
  const killing = kill(world, () => isOver);
  await Promise.all(Array.from({ length: keysAtOnce }, worker));
  isOver = true;
  await killing;
  const result = await world.result({ allowsRefusals: true });
  const problems = [...result.problems];
  if (ledger.turns + ledger.sessions !== count)
    problems.push(`${count} keys had ${ledger.turns} turns and ${ledger.sessions} sessions`);
  const [stored] = await world.engine.rows(
    `SELECT (SELECT count(*) FROM parley.sessions) AS sessions, (SELECT count(*) FROM parley.messages) AS messages`,
  );
  const [sessions, messages] = [Number(stored.sessions), Number(stored.messages)];
  if (sessions !== count || messages !== 2 * ledger.turns)
    problems.push(`there stand ${sessions} sessions and ${messages} messages`);
  callers.successes.sort((one, other) => one - other);
  return { ...result, problems };
}

async function useKey(world, idempotencyKey, isTurn) {
  const { ledger } = world;
  const text = ledger.newText('key');
  const request = isTurn
    ? { method: 'POST', path: '/v1/chat', body: { mode: 'echo', message: text, title: text }, idempotencyKey }
    : { method: 'POST', path: '/v1/sessions', body: { title: text }, idempotencyKey };
  const answers = await Promise.all(
    Array.from({ length: timesEach }, (_, index) => answered(world, index % 2, request)),
  );
  const [first] = answers;
  if (answers.some((answer) => JSON.stringify(answer) !== JSON.stringify(first)))
    world.callers.failures.push(`unequal answers to ${idempotencyKey}: ${JSON.stringify(answers)}`);
  if (isTurn) ledger.turn(first, text);
  else ledger.session(first, text);
}

/** Sends a request until it has a response; if its server is gone, to the other one. */
async function answered({ callers, servers }, at, request) {
  const started = performance.now();
  for (let tries = 0; ; tries += 1) {
    callers.requests += 1;
    let pauseMs = 50;
    try {
      const { status, retryAfter, body } = await send(servers[(at + tries) % servers.length], request);
      if (status === 200) {
        const now = performance.now();
        callers.successes.push(now);
        callers.longestMs = Math.max(callers.longestMs, now - started);
        return body.data;
      }
      const isToCome = (status === 503 || status === 409) && retryAfter >= 0;
      if (!isToCome || tries > 100) {
        callers.failures.push(`${status} ${JSON.stringify(body.error)}`);
        return body.error;
      }
      callers.refusals += 1;
      pauseMs = 500;
    } catch {
      // The server was killed.
    }
    await delay(pauseMs);
  }
}

async function kill({ engine, servers }, isOver) {
  for (let round = 0; !isOver(); round += 1) {
    for (let times = 0; times < 5 && !isOver(); times += 1) {
      await engine.terminateBackends();
      await delay(200);
    }
    if (isOver()) return;
    if (round % 3 === 0) {
      await engine.killBackend();
    } else {
      const server = servers[round % 2];
      await server.end('SIGKILL');
      await delay(200);
      await server.start();
    }
    await delay(1500);
  }
}
