// Reads the JSON body of a request, no further than its limit. Whoever calls this has checked the key: a body of a stranger
// is not read.
import { ParleyError } from '../service/errors.ts';
import { ClientGone } from './client-gone.ts';

/** `{}` for a body that is absent. */
export async function readBody(request: Request, limit: number): Promise<unknown> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return {};
  checkMediaType(request.headers);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notJson('is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw notJson('is not JSON');
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (Number(announced) > limit) throw tooLarge(limit, `${announced}`);
  if (announced === '0') return new Uint8Array();
  try {
    // Node lets through no more than was announced: it need not be counted.
    if (announced !== null) return new Uint8Array(await request.arrayBuffer());
    if (request.body === null) return new Uint8Array();
    return await readCounted(request.body, limit);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    throw new ClientGone(error);
  }
}

async function readCounted(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit, `more than ${limit}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function checkMediaType(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  const isJson = /^application\/json *(; *charset="?utf-8"? *)?$/i.test(type);
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (isJson && encoding === 'identity') return;
  throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON as it stands, in UTF-8.', {
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
    hint: 'Send it in parts.',
    details: [{ field: 'body', problem: `has ${size} bytes` }],
  });
}
