// The parent's side of a process with the service (lines-process.ts): its backend by messages, its address, and its death.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import { type ErrorCode, ParleyError } from '../../src/service/errors.ts';
import type { LinesAnswer, LinesOrder, LinesReply, LinesRoom, LinesStore } from './lines-process.ts';

/** When a process is killed: soon after an operation was sent, when its engine is asked, when the text was given, or after the answer. */
export type KillMoment = 'sent' | 'asked' | 'said' | 'done';

/** What the parent decides about replies. */
export interface LinesEngine {
  given: readonly string[];
  readonly text: string;
  readonly finish: LinesReply['finish'];
}

type Waiting = (answer: LinesAnswer | null) => void;

export class LinesChild {
  readonly backend: EmbeddedBackend;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #engine: LinesEngine;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #killAt: KillMoment | null = null;
  #url: string | null = null;

  private constructor(script: string, engine: LinesEngine) {
    this.#engine = engine;
    this.#child = fork(script);
    this.#gone = once(this.#child, 'exit').then(() => {
      for (const wake of this.#waiting.values()) wake(null);
    });
    this.#child.on('message', (answer: LinesAnswer) => this.#take(answer));
    const room = (name: LinesRoom) =>
      new Proxy(
        {},
        {
          get:
            (_, method) =>
            (...values: unknown[]) =>
              this.#call(name, String(method), values),
        },
      );
    this.backend = {
      service: room('service'),
      archive: room('archive'),
      administration: room('administration'),
      extensions: null,
      close: async () => {},
    } as unknown as EmbeddedBackend;
  }

  static async start(script: string, store: LinesStore, engine: LinesEngine): Promise<LinesChild> {
    const child = new LinesChild(script, engine);
    const open = new Promise<LinesAnswer | null>((resolve) => child.#waiting.set(0, resolve));
    child.#send({ kind: 'open', store });
    const answer = await open;
    if (answer?.kind !== 'open') throw new Error('The process with the service did not start.');
    child.#url = answer.url;
    return child;
  }

  get url(): string {
    if (this.#url === null) throw new Error('The process does not listen.');
    return this.#url;
  }

  get isKilled(): boolean {
    return this.#child.killed;
  }

  /** Kills the process when the next operation reaches this moment; `lateMs` is for `sent`. */
  killAt(moment: KillMoment, lateMs: number): void {
    this.#killAt = moment;
    if (moment === 'sent') void delay(lateMs).then(() => this.#child.kill('SIGKILL'));
  }

  /** Kills the process if it is running. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #send(order: LinesOrder): void {
    // The process may be dead.
    if (this.#child.connected) this.#child.send(order, () => {});
  }

  #take(answer: LinesAnswer): void {
    if ((answer.kind === 'asked' || answer.kind === 'said') && answer.kind === this.#killAt) {
      this.#child.kill('SIGKILL');
      if (answer.kind === 'asked') this.#engine.given = answer.given;
      return;
    }
    if (answer.kind === 'open') this.#waiting.get(0)?.(answer);
    else if (answer.kind === 'asked') {
      this.#engine.given = answer.given;
      const { text, finish } = this.#engine;
      this.#send({ kind: 'reply', reply: { text, finish } });
    } else if (answer.kind !== 'said') this.#waiting.get(answer.number)?.(answer);
  }

  /** A promise of the answer, which is a sequence of events too. */
  #call(room: LinesRoom, method: string, given: readonly unknown[]): unknown {
    const isStreamed = method === 'chat' || method === 'regenerate';
    const events = this.#answers(room, method, given);
    if (isStreamed) return events;
    return (async () => {
      for (;;) {
        const { done, value } = await events.next();
        if (done) return value;
      }
    })();
  }

  async *#answers(
    room: LinesRoom,
    method: string,
    given: readonly unknown[],
  ): AsyncGenerator<unknown, unknown> {
    this.#count += 1;
    const number = this.#count;
    const call = room === 'administration' ? null : (given[0] as Call);
    const queue: (LinesAnswer | null)[] = [];
    let wake = () => {};
    this.#waiting.set(number, (answer) => {
      queue.push(answer);
      wake();
    });
    const stop = () => this.#send({ kind: 'stop', number });
    call?.signal.addEventListener('abort', stop);
    const { apiKey = '', idempotencyKey = null } = call ?? {};
    const values = call === null ? given : given.slice(1);
    this.#send({ kind: 'call', number, room, method, values, call: call && { apiKey, idempotencyKey } });
    if (!this.#child.connected) queue.push(null);
    try {
      for (;;) {
        if (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const answer = queue.shift();
        if (answer === null || answer === undefined) throw new Error('The process with the service is gone.');
        if (answer.kind === 'event') yield answer.event;
        else if (answer.kind === 'done') return answer.value;
        else if (answer.kind === 'failed') {
          call?.signal.throwIfAborted();
          throw new ParleyError(answer.code as ErrorCode, answer.message);
        }
      }
    } finally {
      call?.signal.removeEventListener('abort', stop);
      this.#waiting.delete(number);
    }
  }
}
