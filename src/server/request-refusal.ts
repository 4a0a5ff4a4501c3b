// The status and the error for bytes that Node cannot parse as a request. Node itself would respond with a body of its own.
import type { IncomingMessage } from 'node:http';
import { ParleyError } from '../service/errors.ts';
import { noSuchRoute } from './routing.ts';
import type { ServerLimits } from './server-limits.ts';

export interface Refusal {
  readonly status: number;
  readonly error: ParleyError;
}

/** An error of Node's HTTP parser. `rawPacket` holds the bytes at which the parser stopped. */
export type ConnectionError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

/** The refusal for an error of Node's HTTP parser: 408, 414 or 431 for a limit, 400 for anything else. */
export function refusalOf(error: ConnectionError, limits: ServerLimits): Refusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return refusal(408, 'INVALID_REQUEST', 'The request did not arrive in time.', 'Send it without pauses.');
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const [status, subject] = isRequestLine(error.rawPacket)
      ? [414, 'The request line is']
      : [431, 'The headers are'];
    const message = `${subject} too long: the limit for both together is ${limits.headerBytes} bytes.`;
    return refusal(status, 'PAYLOAD_TOO_LARGE', message, 'Send a shorter request line, or fewer headers.');
  }
  return notHttp;
}

const notHttp = refusal(400, 'INVALID_REQUEST', 'This is not a valid HTTP/1.1 request.', 'See RFC 9112.');

export const badTarget = refusal(
  400,
  'INVALID_REQUEST',
  'The request has no valid host or path.',
  'Check its first line and its Host header.',
);

/**
 * The refusal for a head that Node accepts although it is ambiguous or violates HTTP/1.1 (RFC 9112, sections 3.2 and 6.1); null for any
 * other head.
 */
export function refusalOfHead({ url, headers, httpVersion, rawHeaders }: IncomingMessage): Refusal | null {
  const isOld = httpVersion === '1.0' || httpVersion === '0.9';
  // Node's parser also accepts HTTP/2.0.
  if (!isOld && httpVersion !== '1.1') return notHttp;
  // URL parsing removes such a segment, so the path would differ from the path that a proxy has checked.
  if (dotSegment.test(url ?? '')) return { status: 404, error: noSuchRoute() };
  const { host } = headers;
  if (host === undefined ? !isOld : host === '' || hasTwoHosts(rawHeaders)) return badTarget;
  const coding = headers['transfer-encoding'];
  if (coding === undefined || (!isOld && coding.toLowerCase() === 'chunked')) return null;
  return refusal(
    400,
    'INVALID_REQUEST',
    'This server does not support the transfer coding of the body.',
    'Send it with a Content-Length, or in HTTP/1.1 with only Transfer-Encoding: chunked.',
  );
}

/** `.` or `..`, also percent-encoded, as a segment of the path. */
const dotSegment = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

/** True if the parser stopped in a request line that is too long. */
function isRequestLine(packet: Buffer | undefined): boolean {
  const line = packet?.toString('latin1') ?? '';
  const end = line.indexOf('\n');
  return /^[A-Z]+ /.test(line) && (end === -1 || end > 8 * 1024);
}

function refusal(
  status: number,
  code: 'INVALID_REQUEST' | 'PAYLOAD_TOO_LARGE',
  message: string,
  hint: string,
): Refusal {
  return { status, error: new ParleyError(code, message, { hint }) };
}
