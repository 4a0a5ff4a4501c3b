// One request on its way and its answer as it comes. A handler of undici's own dispatch, because that alone tells whether a request
// has left: what never left may be sent again.
import type { Dispatcher } from 'undici';
import { AnswerBody } from './answer-body.ts';
import { type Destination, HttpFailure, httpFailure } from './http-failure.ts';

/** Names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface AnswerHead {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The bytes as they come over the line. */
  readonly body: AnswerBody;
}

/** Heads with a status below 200, which a server may send before the one that counts: a few in practice. */
const mostInterimHeads = 100;

export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly head: Promise<AnswerHead>;
  readonly #destination: Destination;
  readonly #mostBytes: number;
  #resolve!: (head: AnswerHead) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #interimHeads = 0;
  #body: AnswerBody | null = null;
  #stopped: { readonly reason: unknown } | null = null;

  /** `mostBytes`: of the body of an answer. */
  constructor(destination: Destination, mostBytes: number) {
    this.#destination = destination;
    this.#mostBytes = mostBytes;
    this.head = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get sent(): boolean {
    return this.#controller !== null;
  }

  /** Ends it now, also while it waits for a connection: whoever waits for it gets the reason. */
  stop(reason: unknown): void {
    if (this.#stopped !== null) return;
    this.#stopped = { reason };
    this.#reject(reason);
    this.#body?.stop(reason);
    this.#controller?.abort(asError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#stopped === null) this.#controller = controller;
    else controller.abort(asError(this.#stopped.reason));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HttpHeaders): void {
    if (status < 200) {
      this.#interimHeads += 1;
      if (this.#interimHeads > mostInterimHeads) controller.abort(endlessHeads());
      return;
    }
    this.#body = new AnswerBody(controller, this.#mostBytes);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#body?.end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    const failure = this.#failureOf(error);
    this.#reject(failure);
    this.#body?.end(failure);
  }

  /** A fault of the program is none of the network. */
  #failureOf(error: unknown): Error {
    if (error instanceof HttpFailure || error instanceof TypeError) return error;
    return httpFailure(error, this.sent, this.#destination);
  }
}

function endlessHeads(): HttpFailure {
  return new HttpFailure('unreadable', true, `more than ${mostInterimHeads} heads came, and no answer`);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('stopped', { cause: reason });
}
