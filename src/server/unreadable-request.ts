// What Node could not read as a request: which status and words that gets. Node itself would answer with a body of its own.
import { ParleyError } from '../service/errors.ts';
import type { ServerLimits } from './server-limits.ts';

export interface Refusal {
  readonly status: number;
  readonly error: ParleyError;
}

/** What Node's parser reports, with the bytes that it stopped at. */
export type ConnectionError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

export function refusalOf(error: ConnectionError, limits: ServerLimits): Refusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return refusal(408, 'INVALID_REQUEST', 'The request did not arrive in time.', 'Send it without pauses.');
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const what = isRequestLine(error.rawPacket) ? 'The request line is' : 'The headers are';
    const status = isRequestLine(error.rawPacket) ? 414 : 431;
    const message = `${what} too long: the limit for both together is ${limits.headerBytes} bytes.`;
    return refusal(status, 'PAYLOAD_TOO_LARGE', message, 'Send less of them.');
  }
  return refusal(400, 'INVALID_REQUEST', 'This is not a valid HTTP/1.1 request.', 'See RFC 9112.');
}

/** True for a line without an end that began as a request does. */
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
