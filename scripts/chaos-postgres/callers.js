// Callers that use sessions of their own until they are stopped: streams of a slow model, chats, chats whose key is sent twice, and sessions
// that are created, read, renamed and deleted. Each counts its responses, and its longest time without one.
import { setTimeout as delay } from 'node:timers/promises';
import { send } from './requests.js';

const kinds = [streamTurns, chatTurns, repeatedTurns, sessionLives];
const turnsOfSession = 5;

export class Callers {
  #servers;
  #ledger;
  #isOver = false;
  #running = [];
  /** Responses 503 with `Retry-After`, which are not failures in an outage that is longer than the patience. */
  refusals = 0;
  requests = 0;
  failures = [];
  longestMs = 0;
  /** The time of each success, in order. */
  successes = [];

  /** `servers`: the servers that a caller uses, in turn when its server is gone; each `{port, key}`. */
  constructor(servers, ledger) {
    this.#servers = servers;
    this.#ledger = ledger;
  }

  start(count) {
    this.#running = Array.from({ length: count }, (_, index) => this.#call(index));
  }

  /** Resolves when the last caller has its response. */
  async stop() {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** The time from `moment` to the next success. */
  silenceAfter(moment) {
    const next = this.successes.find((success) => success >= moment);
    return next === undefined ? Number.POSITIVE_INFINITY : next - moment;
  }

  async #call(index) {
    // The same number of each kind at each server.
    const caller = { at: Math.floor(index / kinds.length), ledger: this.#ledger, ask: null };
    caller.ask = (request) => this.#ask(caller, request);
    const live = kinds[index % kinds.length];
    while (!this.#isOver) await live(caller, () => this.#isOver);
  }

  /** The data of the response, or null if there is none: a request with a key is sent until it has one. */
  async #ask(caller, request) {
    let lastSign = performance.now();
    const sign = () => {
      const now = performance.now();
      this.longestMs = Math.max(this.longestMs, now - lastSign);
      lastSign = now;
    };
    for (;;) {
      this.requests += 1;
      const server = this.#servers[caller.at % this.#servers.length];
      let outcome;
      try {
        outcome = await send(server, request, sign);
      } catch (error) {
        // The server is gone: a balancer would choose another.
        if (!this.mayLoseServers) this.#fail(request, error.message);
        caller.at += 1;
        if (!request.idempotencyKey && request.method === 'POST') return null;
        await delay(20);
        continue;
      }
      const { status, retryAfter, body } = outcome;
      if (status === 200 && body.success === true) {
        sign();
        this.successes.push(lastSign);
        return body.data;
      }
      if (status === 404 && request.expects404) return null;
      if (status !== 503 || !(retryAfter >= 0)) {
        this.#fail(request, `${status} ${JSON.stringify(body.error)}`);
        return null;
      }
      this.refusals += 1;
      this.lastRefusal = JSON.stringify(body.error);
      if (this.mayLoseServers) caller.at += 1;
      if (!request.idempotencyKey && request.method === 'POST') return null;
      if (this.#isOver && performance.now() - lastSign > 60_000) return null;
      await delay(retryAfter * 1000 * (0.5 + Math.random() / 2));
    }
  }

  #fail({ method, path }, what) {
    this.failures.push(`${method} ${path}: ${what}`);
  }
}

function chat(body, more = {}) {
  return { method: 'POST', path: '/v1/chat', body, ...more };
}

async function turns({ ledger, ask }, isOver, request) {
  let session = null;
  for (let turn = 0; turn < turnsOfSession && !isOver(); turn += 1) {
    const message = ledger.newText('message');
    const place = session === null ? { title: ledger.newText('title') } : { session_id: session };
    const data = await request({ message, ...place }, ask);
    if (data === null) return;
    ledger.turn(data, message);
    session = data.session_id;
  }
}

function streamTurns(caller, isOver) {
  return turns(caller, isOver, (body, ask) => ask(chat({ mode: 'slow', ...body }, { streams: true })));
}

function chatTurns(caller, isOver) {
  return turns(caller, isOver, (body, ask) => ask(chat({ mode: 'eliza', ...body })));
}

/** The second response to a key equals the first. */
function repeatedTurns(caller, isOver) {
  return turns(caller, isOver, async (body, ask) => {
    const idempotencyKey = caller.ledger.newText('key').replace(' ', '-');
    const request = chat({ mode: 'echo', ...body }, { idempotencyKey });
    const first = await ask(request);
    const second = await ask(request);
    if (first !== null && second !== null) caller.ledger.turn(second, body.message);
    return second === null || first?.message_id === second.message_id ? first : second;
  });
}

async function sessionLives({ ledger, ask }, _isOver) {
  const title = ledger.newText('title');
  const made = await ask({ method: 'POST', path: '/v1/sessions', body: { title } });
  if (made === null) return;
  ledger.session(made, title);
  const path = `/v1/sessions/${made.session_id}`;
  await ask({ method: 'GET', path });
  // A deletion whose response was lost with its server finds no session when it is sent again.
  if (Math.random() < 0.5 && (await ask({ method: 'DELETE', path, expects404: true })) !== null)
    ledger.deleted(made.session_id);
}
