// The failures of an HTTP request until its response is read. The caller interprets a failure and reports it to the user.
import { ResponseSyntaxError } from './response-parser.ts';

export type HttpFailureKind =
  /** Nothing listens at the address. */
  | 'refused'
  | 'unreachable'
  | 'unknown_host'
  /** The name could not be resolved, although it may exist. */
  | 'lookup'
  /** The connection ended before the response did. */
  | 'broken'
  /** No trusted authority has signed the certificate. */
  | 'untrusted'
  | 'tls'
  | 'proxy'
  | 'timeout'
  | 'redirect'
  /** The response exceeds the caller's limit. */
  | 'too_large'
  /** The response violates HTTP. */
  | 'unreadable';

interface HttpFailureOptions {
  readonly isSent?: boolean;
  readonly isStale?: boolean;
  readonly cause?: unknown;
}

export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly kind: HttpFailureKind;
  /** False if no byte of the request has left. */
  readonly isSent: boolean;
  /**
   * True for a request on a kept connection that the server closed before the first byte of a response. The server had most likely closed
   * the connection before the request arrived.
   */
  readonly isStale: boolean;

  /** A failure without `isSent` is one of a response. */
  constructor(
    kind: HttpFailureKind,
    message: string,
    { isSent = true, isStale = false, cause }: HttpFailureOptions = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.isSent = isSent;
    this.isStale = isStale;
  }
}

export function tooLarge(maxBytes: number): HttpFailure {
  return new HttpFailure('too_large', `the response is larger than ${maxBytes} bytes`);
}

/** The server of a request, and the proxy to it. */
export interface Destination {
  readonly host: string;
  /** Null for none. */
  readonly proxy: string | null;
}

/** The failure for an error of undici, of Node's sockets or of Node's TLS. */
export function httpFailure(error: unknown, isSent: boolean, { host, proxy }: Destination): HttpFailure {
  const cause = firstOf(error);
  const code = codeOf(cause);
  const at = proxy === null ? host : `${host} through the proxy ${proxy}`;
  const failure = (kind: HttpFailureKind, message: string) =>
    new HttpFailure(kind, message, { isSent, cause: error });
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return failure('timeout', `${at} could not be reached in time`);
  }
  if (untrustedCodes.has(code)) {
    return failure('untrusted', `the certificate of ${host} is not signed by a trusted authority`);
  }
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO)/.test(code)) {
    return failure('tls', `no secure connection to ${at}: ${tlsProblem(code, cause)}`);
  }
  if (proxy !== null && !isSent && /^UND_ERR_(ABORTED|SOCKET|INVALID_ARG|SOCKS5)/.test(code)) {
    // undici has the status of the proxy's response only in its message.
    const [, status = ''] = /: Proxy response( \(\d+\))/.exec(String(cause)) ?? [];
    return failure('proxy', `the proxy ${proxy} did not connect to ${host}${status}`);
  }
  if (isParserError(cause) || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return failure('unreadable', `the response of ${at} is not valid HTTP`);
  }
  if (isUnrequestedContinue(cause)) {
    return failure('unreadable', `${at} sent the status 100, which was not requested`);
  }
  switch (code) {
    case 'ECONNREFUSED':
      if (proxy !== null) return failure('proxy', `nothing is listening at the proxy ${proxy}`);
      return failure('refused', `nothing is listening at ${host}`);
    case 'ENOTFOUND':
      if (proxy !== null) return failure('proxy', `the proxy ${proxy} was not found`);
      return failure('unknown_host', `the host ${host} was not found`);
    case 'EAI_AGAIN':
      return failure('lookup', `the name ${proxy ?? host} could not be resolved`);
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

/**
 * True for a response that is not HTTP, but not for one that ends too early. undici 7.30 distinguishes the two only by the message, without
 * a code.
 */
function isParserError(cause: unknown): boolean {
  if (cause instanceof ResponseSyntaxError) return true;
  return cause instanceof Error && cause.name === 'HTTPParserError' && !cause.message.includes('EOF');
}

/** undici 7.30 refuses `100 Continue`, which RFC 9110 allows at any time. */
function isUnrequestedContinue(cause: unknown): boolean {
  return codeOf(cause) === 'UND_ERR_SOCKET' && cause instanceof Error && cause.message === 'bad response';
}

function tlsProblem(code: string, cause: unknown): string {
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another name';
  if (code === 'EPROTO' || code.includes('WRONG_VERSION')) return 'it does not speak TLS as expected';
  return cause instanceof Error ? cause.message : code;
}

/**
 * The most specific error. If a name has several addresses, Node reports the errors of all of them together. It tries the next address after
 * 250 ms, and then reports ETIMEDOUT for the one before, so any other code says more.
 */
function firstOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.find((one) => !['', 'ETIMEDOUT'].includes(codeOf(one))) ?? error.errors[0];
  // undici wraps the failure of the TLS connection to a proxy.
  if (error instanceof Error && codeOf(error) === 'UND_ERR_PRX_TLS') return error.cause;
  return error;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
