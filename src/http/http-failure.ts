// What can go wrong with one HTTP request before there is an answer to read, or while it is read. What it means for the caller,
// and what to do about it, is for the caller to say.
import { AnswerSyntaxError } from './response-parser.ts';

export type HttpFailureKind =
  /** Nothing listens there. */
  | 'refused'
  | 'unreachable'
  | 'unknown_host'
  /** The name could not be looked up now; it may exist. */
  | 'lookup'
  /** The connection ended before the answer did. */
  | 'broken'
  /** The certificate is signed by nobody who is trusted here. */
  | 'untrusted'
  | 'tls'
  | 'proxy'
  | 'timeout'
  | 'redirect'
  /** An answer came, but it is larger than whoever asked can take. */
  | 'too_large'
  /** An answer came, but not as HTTP says. */
  | 'unreadable';

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly kind: HttpFailureKind;
  /** False: no byte of the request has left. */
  readonly sent: boolean;
  /**
   * True for a request on a connection that was kept from an earlier one, and that the server ended before a byte of an answer came:
   * most likely it had let go of it before the request was there.
   */
  readonly stale: boolean;

  constructor(kind: HttpFailureKind, sent: boolean, message: string, cause?: unknown, stale = false) {
    super(message, { cause });
    this.kind = kind;
    this.sent = sent;
    this.stale = stale;
  }
}

export function tooLarge(mostBytes: number): HttpFailure {
  return new HttpFailure('too_large', true, `the answer is larger than ${mostBytes} bytes`);
}

/** `host` is what was to be reached, `proxy` what it was to be reached through. */
export interface Destination {
  readonly host: string;
  readonly proxy: string | null;
}

/** The failure behind an error of undici, of Node's sockets, or of its TLS. */
export function httpFailure(error: unknown, sent: boolean, { host, proxy }: Destination): HttpFailure {
  const cause = firstOf(error);
  const code = codeOf(cause);
  const at = proxy === null ? host : `${host} through the proxy ${proxy}`;
  const failure = (kind: HttpFailureKind, message: string) => new HttpFailure(kind, sent, message, error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return failure('timeout', `${at} could not be reached in time`);
  }
  if (untrustedCodes.has(code)) {
    return failure('untrusted', `the certificate of ${host} is not signed by anyone who is trusted here`);
  }
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO)/.test(code)) {
    return failure('tls', `no secure connection to ${at}: ${tlsProblem(code, cause)}`);
  }
  if (proxy !== null && !sent && /^UND_ERR_(ABORTED|SOCKET|INVALID_ARG|SOCKS5)/.test(code)) {
    return failure('proxy', `the proxy ${proxy} did not connect to ${host}`);
  }
  if (isParserError(cause) || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return failure('unreadable', `the answer of ${at} is not HTTP`);
  }
  switch (code) {
    case 'ECONNREFUSED':
      return failure('refused', `nothing is listening at ${proxy === null ? host : `the proxy ${proxy}`}`);
    case 'ENOTFOUND':
      return failure('unknown_host', `the host ${proxy ?? host} was not found`);
    case 'EAI_AGAIN':
      return failure('lookup', `the name ${proxy ?? host} could not be looked up`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return failure('unreachable', `${at} cannot be reached`);
    default:
      return failure('broken', `the connection to ${at} was lost`);
  }
}

const untrustedCodes: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
]);

/** Of an answer that is not HTTP; one that only ends too soon is that (undici 7.30 tells by the message alone, without a code). */
function isParserError(cause: unknown): boolean {
  if (cause instanceof AnswerSyntaxError) return true;
  return cause instanceof Error && cause.name === 'HTTPParserError' && !cause.message.includes('EOF');
}

function tlsProblem(code: string, cause: unknown): string {
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another name';
  if (code === 'EPROTO' || code.includes('WRONG_VERSION')) return 'it does not speak TLS as expected';
  return cause instanceof Error ? cause.message : code;
}

/** Where a name has several addresses, Node reports the failure at each together. */
function firstOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors[0];
  // undici wraps what the TLS to a proxy failed of.
  if (error instanceof Error && codeOf(error) === 'UND_ERR_PRX_TLS') return error.cause;
  return error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
