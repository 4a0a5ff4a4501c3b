// Reads the JSON body of a request within its limits. The caller has checked the key, because the body of a stranger must not be read.
import { Readable } from 'node:stream';
import { ChunkQueue } from '../http/chunk-queue.ts';
import { ParleyError } from '../service/errors.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { parseJsonBody } from './json-body.ts';
import type { JsonBounds } from './json-scan.ts';
import { type LargeRequest, type LargeRequests, largeBytes } from './large-requests.ts';
import type { RequestContext } from './request-context.ts';

/** The most bytes of a body, and the limits of its JSON. */
export interface BodyLimits {
  readonly bytes: number;
  readonly json: JsonBounds;
}

export interface RequestBody {
  readonly value: unknown;
  /** The place of a large body among the others; null for a small one. The caller leaves the place when it no longer needs the value. */
  readonly place: LargeRequest | null;
}

/** Whose body it is, and where its bytes are. */
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

/** What the bodies of all requests share. */
export interface BodyRoom {
  readonly chunks: ChunkReader;
  readonly large: LargeRequests;
}

/** Reads `{}` for a missing body. */
export async function readBody(source: BodySource, limits: BodyLimits, room: BodyRoom): Promise<RequestBody> {
  const { bytes, place } = await readBytes(source, limits.bytes, room);
  if (bytes.length === 0) return { value: {}, place };
  try {
    checkMediaType(source.headers);
    await place?.turn();
    return { value: await parsed(bytes, limits.json), place };
  } catch (error) {
    place?.leave();
    throw error;
  }
}

async function parsed(bytes: Uint8Array, bounds: JsonBounds): Promise<unknown> {
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
  readonly place: LargeRequest | null;
}

/** A body takes its place when it has become large. The place counts the bytes that have arrived, not those that were announced. */
async function readBytes(
  { apiKey, headers, body }: BodySource,
  limit: number,
  room: BodyRoom,
): Promise<ReadBytes> {
  const announced = headers.get('content-length');
  if (Number(announced) > limit) throw tooLarge(limit, `${announced}`);
  if (announced === '0' || body === null) return { bytes: new Uint8Array(), place: null };
  const chunks = new ChunkQueue();
  let place: LargeRequest | null = null;
  try {
    await room.chunks.read(body, (chunk) => {
      chunks.push(chunk);
      const length = chunks.byteLength;
      if (length > limit) throw tooLarge(limit, `more than ${limit}`);
      if (length <= largeBytes) return null;
      const arrived = place === null ? length : chunk.length;
      place ??= room.large.enter(apiKey);
      return place.hold(arrived);
    });
    return { bytes: chunks.takeAll(), place };
  } catch (error) {
    (place as LargeRequest | null)?.leave();
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
