// Creates the responses of the server: one form of body for success, one for failure, and the headers of every response.
import type { ParleyError } from '../service/errors.ts';
import { extensions } from '../service/extensions.ts';
import { failureBody } from '../service/result.ts';
import { asksToRetry, errorStatus } from '../wire/error-status.ts';
import { eventStreamType, extensionsHeader, requestIdHeader } from '../wire/headers.ts';
import { isOfApi, type RequestContext } from './request-context.ts';

const extensionList = extensions.join(', ');

interface ResponseOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonResponse(context: RequestContext, body: unknown, options?: ResponseOptions): Response {
  return textResponse(context, 'application/json', JSON.stringify(body), options);
}

export function textResponse(
  context: RequestContext,
  type: string,
  text: string,
  options?: ResponseOptions,
): Response {
  const status = options?.status ?? 200;
  const headers: Record<string, string> = Object.assign(headersOf(context, type), options?.headers);
  if (text.length <= chunkBytes) return new Response(text, { status, headers });
  const bytes = Buffer.from(text);
  headers['Content-Length'] = String(bytes.length);
  return new Response(inChunks(bytes), { status, headers });
}

/** A longer response is handed over in chunks of this many bytes, which show whether its reader stalls. */
const chunkBytes = 64 * 1024;

function inChunks(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        controller.enqueue(bytes.subarray(at, at + chunkBytes));
        at += chunkBytes;
        if (at >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

export type ReadResult = IteratorResult<Uint8Array, undefined>;

/** The bytes of a body, one read at a time. */
export interface ByteStream {
  read(): Promise<ReadResult>;
  /** The reader wants no more bytes. */
  cancel(): void;
}

type StreamedResponse = Response & { readonly stream?: ByteStream };

/** The response to a request with a socket has no body. Its stream is sent by {@link sendStream}, because a web stream takes 6 KB. */
export function streamResponse(context: RequestContext, stream: ByteStream): Response {
  // A proxy that buffers responses would delay a stream to its end. This header tells nginx and some other proxies not to buffer.
  const headers = Object.assign(headersOf(context, eventStreamType), { 'X-Accel-Buffering': 'no' });
  if (context.incoming === null) return new Response(webStream(stream), { headers });
  return Object.assign(new Response(null, { headers }), { stream });
}

/** The stream of a response whose body is not in the response itself. */
export function streamOf(response: StreamedResponse): ByteStream | null {
  return response.stream ?? null;
}

function webStream(stream: ByteStream): ReadableStream<Uint8Array> {
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const { done, value } = await stream.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => stream.cancel(),
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** `error` must contain only public facts. `status` replaces the status of the code if HTTP has a more specific one. */
export function failureResponse(
  context: RequestContext,
  error: ParleyError,
  { status = errorStatus(error.code), headers = {} }: ResponseOptions = {},
): Response {
  return jsonResponse(context, failureBody(error, context.requestId), {
    status,
    headers: {
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
      ...((error.retryAfter !== null || asksToRetry(status)) && {
        'Retry-After': String(error.retryAfter ?? defaultRetryAfter),
      }),
      ...headers,
    },
  });
}

/** Seconds to wait before a retry if the failure names none. */
const defaultRetryAfter = 2;

function headersOf(context: RequestContext, type: string): Record<string, string> {
  const headers: Record<string, string> = { 'Content-Type': type, 'Cache-Control': 'no-store' };
  headers[requestIdHeader] = context.requestId;
  if (isOfApi(context)) headers[extensionsHeader] = extensionList;
  return headers;
}
