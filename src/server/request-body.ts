// Reads the JSON body of a request within its limits. The caller has checked the key, because the body of a stranger must not be read.
import { ParleyError } from '../service/errors.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { ClientGone } from './client-gone.ts';
import { parseJsonBody } from './json-body.ts';
import type { JsonBounds } from './json-scan.ts';
import { type LargeRequest, type LargeRequests, largeBytes } from './large-requests.ts';

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

/** Reads `{}` for a missing body. */
export async function readBody(
  request: Request,
  key: string,
  limits: BodyLimits,
  large: LargeRequests,
): Promise<RequestBody> {
  const { bytes, place } = await readBytes(request, key, limits.bytes, large);
  if (bytes.length === 0) return { value: {}, place };
  try {
    checkMediaType(request.headers);
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

async function readBytes(
  request: Request,
  key: string,
  limit: number,
  large: LargeRequests,
): Promise<ReadBytes> {
  const announced = request.headers.get('content-length');
  if (Number(announced) > limit) throw tooLarge(limit, `${announced}`);
  if (announced === '0') return { bytes: new Uint8Array(), place: null };
  try {
    // Node takes no more bytes than the header announces, so these need not be counted.
    if (announced !== null && Number(announced) <= largeBytes)
      return { bytes: new Uint8Array(await request.arrayBuffer()), place: null };
    if (request.body === null) return { bytes: new Uint8Array(), place: null };
    return await readCounted(request.body, limit, () => large.enter(key, request.signal));
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    throw new ClientGone(error);
  }
}

/** A body takes its place when it has become large. The place counts the bytes that have arrived, not those that were announced. */
async function readCounted(
  body: ReadableStream<Uint8Array>,
  limit: number,
  enter: () => LargeRequest,
): Promise<ReadBytes> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let place: LargeRequest | null = null;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > limit) throw tooLarge(limit, `more than ${limit}`);
      chunks.push(chunk);
      if (length <= largeBytes) continue;
      const arrived = place === null ? length : chunk.length;
      place ??= enter();
      await place.hold(arrived);
    }
    return { bytes: Buffer.concat(chunks), place };
  } catch (error) {
    place?.leave();
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
