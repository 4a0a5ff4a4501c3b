// Reads the JSON body of a request within its limits. The caller checks the key first, because the body of a stranger must not be read.
import { Readable } from 'node:stream';
import { ChunkQueue } from '../http/chunk-queue.ts';
import { ParleyError } from '../service/errors.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { parseJsonBody } from './json-body.ts';
import type { JsonBounds } from './json-scan.ts';
import { type BodyReservation, type LargeRequests, largeBytes } from './large-requests.ts';
import type { RequestContext } from './request-context.ts';

/** The most bytes of a body, and the limits of its JSON. */
interface BodyLimits {
  readonly bytes: number;
  readonly json: JsonBounds;
}

interface RequestBody {
  readonly value: unknown;
  /** The memory of a large body; null for a small one. The caller releases it when it no longer needs the value. */
  readonly reservation: BodyReservation | null;
}

/** The owner and the bytes of a body. */
interface BodySource {
  readonly apiKey: string;
  readonly headers: Headers;
  readonly body: Readable | null;
}

export function bodySource({ apiKey, incoming }: RequestContext, request: Request): BodySource {
  const { headers } = request;
  if (incoming !== null) return { apiKey, headers, body: incoming };
  return { apiKey, headers, body: request.body && Readable.from(request.body) };
}

/** The objects that the bodies of all requests share. */
export interface BodyReading {
  readonly chunkReader: ChunkReader;
  readonly largeRequests: LargeRequests;
}

/** Reads `{}` for a missing body. */
export async function readBody(
  source: BodySource,
  limits: BodyLimits,
  reading: BodyReading,
): Promise<RequestBody> {
  const { bytes, reservation } = await readBytes(source, limits.bytes, reading);
  if (bytes.length === 0) return { value: {}, reservation };
  try {
    checkMediaType(source.headers);
    await reservation?.beginProcessing();
    return { value: await parseBody(bytes, limits.json), reservation };
  } catch (error) {
    reservation?.release();
    throw error;
  }
}

async function parseBody(bytes: Uint8Array, bounds: JsonBounds): Promise<unknown> {
  try {
    return await parseJsonBody(bytes, bounds, yieldToEventLoop);
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson('is not JSON');
    if (error instanceof TypeError) throw notJson('is not valid UTF-8');
    throw error;
  }
}

interface ReadBytes {
  readonly bytes: Uint8Array;
  readonly reservation: BodyReservation | null;
}

/** A body gets a reservation when it has become large. The reservation counts the bytes that have arrived, not the announced length. */
async function readBytes(
  { apiKey, headers, body }: BodySource,
  limit: number,
  { chunkReader, largeRequests }: BodyReading,
): Promise<ReadBytes> {
  const contentLength = headers.get('content-length');
  if (Number(contentLength) > limit) throw tooLarge(limit, `${contentLength}`);
  if (contentLength === '0' || body === null) return { bytes: new Uint8Array(), reservation: null };
  const chunks = new ChunkQueue();
  let reservation: BodyReservation | null = null;
  try {
    await chunkReader.read(body, (chunk) => {
      chunks.push(chunk);
      const length = chunks.byteLength;
      if (length > limit) throw tooLarge(limit, `more than ${limit}`);
      if (length <= largeBytes) return null;
      const arrivedBytes = reservation === null ? length : chunk.length;
      reservation ??= largeRequests.add(apiKey);
      return reservation.reserve(arrivedBytes);
    });
    return { bytes: chunks.takeAll(), reservation };
  } catch (error) {
    (reservation as BodyReservation | null)?.release();
    throw error;
  }
}

function checkMediaType(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  const isJson = /^application\/json *(; *charset="?utf-8"? *)?$/i.test(type);
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (isJson && encoding === 'identity') return;
  throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', 'The body must be uncompressed JSON in UTF-8.', {
    hint: 'Send it with the header Content-Type: application/json, and without a Content-Encoding.',
  });
}

function notJson(problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The body ${problem}.`, {
    details: [{ field: 'body', problem }],
  });
}

function tooLarge(limit: number, size: string): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `The body has ${size} bytes; the limit is ${limit}.`, {
    hint: 'Send less in one request.',
    details: [{ field: 'body', problem: `has ${size} bytes` }],
  });
}
