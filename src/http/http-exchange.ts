// One request and its response. The class is a handler of undici's `dispatch`, because only a handler knows whether a request has left. A
// request that never left may be retried.
import type { Dispatcher } from 'undici';
import { type Destination, HttpFailure, httpFailure } from './http-failure.ts';
import { type BodySource, ResponseBody } from './response-body.ts';

/** Header names are in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ResponseHead {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The bytes as the server sends them, possibly compressed. */
  readonly body: ResponseBody;
}

/** The most heads with a status below 200. A server may send a few of them before the final head. */
const maxInterimHeads = 100;

export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly head: Promise<ResponseHead>;
  readonly #destination: Destination;
  readonly #maxBytes: number;
  #resolve!: (head: ResponseHead) => void;
  #reject!: (error: unknown) => void;
  #controller: BodySource | null = null;
  #interimHeads = 0;
  #body: ResponseBody | null = null;
  #stopped: { readonly reason: unknown } | null = null;

  /** `maxBytes` limits the body of the response. */
  constructor(destination: Destination, maxBytes: number) {
    this.#destination = destination;
    this.#maxBytes = maxBytes;
    this.head = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** True once a byte of the request may have left. */
  get isSent(): boolean {
    return this.#controller !== null;
  }

  /** Ends the exchange immediately, even while it waits for a connection. The reader gets the reason. */
  stop(reason: unknown): void {
    if (this.#stopped !== null) return;
    this.#stopped = { reason };
    this.#reject(reason);
    this.#body?.stop(reason);
    this.#controller?.abort(asError(reason));
  }

  onRequestStart(controller: BodySource): void {
    if (this.#stopped === null) this.#controller = controller;
    else controller.abort(asError(this.#stopped.reason));
  }

  onResponseStart(controller: BodySource, status: number, headers: HttpHeaders): void {
    if (status < 200) {
      this.#interimHeads += 1;
      if (this.#interimHeads > maxInterimHeads) controller.abort(endlessHeads());
      return;
    }
    this.#body = new ResponseBody(controller, this.#maxBytes);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: BodySource, chunk: Uint8Array): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#body?.end(null);
  }

  onResponseError(_controller: BodySource, error: unknown): void {
    // A `TypeError` is a bug of this program, not a fault of the network, and is passed on unchanged.
    const isFailure = error instanceof HttpFailure || error instanceof TypeError;
    const failure = isFailure ? error : httpFailure(error, this.isSent, this.#destination);
    this.#reject(failure);
    this.#body?.end(failure);
  }
}

function endlessHeads(): HttpFailure {
  return new HttpFailure(
    'unreadable',
    `the server sent more than ${maxInterimHeads} interim responses and no final one`,
  );
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('stopped', { cause: reason });
}
