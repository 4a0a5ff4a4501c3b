// The client of the HTTP tests, and its servers. Each is closed when its test is finished.
import { onTestFinished } from 'vitest';
import { HttpClient, type HttpClientOptions, type HttpRequest } from '../../src/http/http-client.ts';
import { HttpFailure } from '../../src/http/http-failure.ts';
import { type Script, serve } from '../support/scripted-server.ts';

/** Closed when the test is finished. */
export function closeAfterTest<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}

export function clientOf(origin: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const usual = {
    proxies: {},
    authorities: null,
    connectMs: 2000,
    responseMs: 5000,
    silenceMs: 5000,
    maxBytes: 64 * 1024 * 1024,
    detectsStale: true,
  };
  return closeAfterTest(new HttpClient({ origin, ...usual, ...options }));
}

export async function started(script: Script, options?: Partial<HttpClientOptions>) {
  const server = closeAfterTest(await serve(script));
  return { server, client: clientOf(server.url, options) };
}

export const get = (rest: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  path: '/',
  headers: {},
  body: null,
  signal: new AbortController().signal,
  ...rest,
});

export async function failureOf(work: Promise<unknown>): Promise<HttpFailure> {
  const error = await work.then(
    () => new Error('expected a failure'),
    (reason: unknown) => reason,
  );
  if (error instanceof HttpFailure) return error;
  throw error;
}

export async function readAll(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
