// Turns HTTP failures into failures of Parley.
import type { HttpFailure, HttpFailureKind } from '../http/http-failure.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import type { Remedy } from '../service/remedy.ts';
import type { Route } from '../wire/routes.ts';

const codes = {
  refused: 'NETWORK',
  unreachable: 'NETWORK',
  unknown_host: 'NETWORK',
  lookup: 'NETWORK',
  broken: 'NETWORK',
  untrusted: 'NETWORK',
  tls: 'NETWORK',
  proxy: 'NETWORK',
  timeout: 'TIMEOUT',
  redirect: 'REDIRECT',
  too_large: 'BAD_RESPONSE',
  unreadable: 'BAD_RESPONSE',
} as const satisfies Record<HttpFailureKind, ErrorCode>;

const hints = {
  refused: 'Check the URL, and that the server is running.',
  unreachable: 'Check the network, and the URL.',
  unknown_host: 'Check the URL.',
  lookup: 'Check the network, and the URL.',
  broken: 'Try again.',
  untrusted: '',
  tls: 'Check the URL, and the certificate of the server.',
  proxy: '',
  timeout: '',
  redirect: 'Nothing was sent to that address. If you trust that server, use its URL.',
  too_large: 'Ask for fewer items at a time, if the command allows it.',
  unreadable: 'Check the URL: it must be the base of a conversation service.',
} as const satisfies Record<HttpFailureKind, string>;

const remedies: Partial<Record<HttpFailureKind, Remedy>> = {
  untrusted: { kind: 'trust_certificate' },
  proxy: { kind: 'check_proxies' },
  timeout: { kind: 'allow_longer_silence', mode: null, within: 'reply' },
};

/** The failure of a request with this method. */
export function failureOf(failure: HttpFailure, method: Route['method']): ParleyError {
  // A longer time-out does not help if the connection failed.
  const kind = failure.kind === 'timeout' && !failure.isSent ? 'unreachable' : failure.kind;
  const mayHaveActed = failure.isSent && method !== 'GET' && codes[failure.kind] !== 'REDIRECT';
  const warning = mayHaveActed
    ? ' The server may have carried out the request: check before you repeat it.'
    : '';
  return new ParleyError(codes[failure.kind], sentence(failure.message), {
    hint: (kind === 'broken' && mayHaveActed ? '' : hints[kind]).concat(warning).trim(),
    remedy: remedies[kind] ?? null,
    cause: failure,
  });
}

/** The failure of a reply that was cut off. The received part is not a reply, and the message may be stored. */
export function incompleteReply(
  failure: HttpFailure,
  place: { readonly session_id?: string; readonly message_id?: string },
): ParleyError {
  const code = codes[failure.kind] === 'NETWORK' ? 'INCOMPLETE_REPLY' : codes[failure.kind];
  const location =
    place.session_id === undefined ? '' : ` The message may be kept in session ${place.session_id}.`;
  return new ParleyError(code, `The reply was cut off: ${failure.message}.`, {
    hint: `The received part is not a complete reply.${location}`,
    ...place,
    cause: failure,
  });
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
