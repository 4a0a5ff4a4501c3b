// The failure for a request without a response.
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
  refused: 'Check that the server runs, and its URL.',
  unreachable: 'Check the network, and the URL.',
  unknown_host: 'Check the URL.',
  lookup: 'Check the network, and the URL.',
  broken: 'Try again.',
  untrusted: '',
  tls: 'Check the URL, and the certificate of the server.',
  proxy: '',
  timeout: '',
  redirect: 'Nothing was sent there. If you trust that server, use its URL.',
  too_large: 'Ask for fewer items at a time, if the command allows it.',
  unreadable: 'Check the URL: it must be the base of a conversation service.',
} as const satisfies Record<HttpFailureKind, string>;

const remedies: Partial<Record<HttpFailureKind, Remedy>> = {
  untrusted: { kind: 'trust_certificate' },
  proxy: { kind: 'check_proxies' },
  timeout: { kind: 'allow_longer_silence', mode: null, within: 'reply' },
};

/** The failure that the user gets for `failure`, which ended a request with this method. */
export function failureOf(failure: HttpFailure, method: Route['method']): ParleyError {
  // A longer time-out does not help if no connection was made.
  const kind = failure.kind === 'timeout' && !failure.sent ? 'unreachable' : failure.kind;
  const isDoubtful = failure.sent && method !== 'GET' && codes[failure.kind] !== 'REDIRECT';
  const doubt = isDoubtful
    ? ' The server may have carried out the request: check that before you repeat it.'
    : '';
  return new ParleyError(codes[failure.kind], sentence(failure.message), {
    hint: (kind === 'broken' && isDoubtful ? '' : hints[kind]).concat(doubt).trim(),
    remedy: remedies[kind] ?? null,
    cause: failure,
  });
}

/** The failure of a reply that broke off. The part that came is not a reply, and the message may be stored. */
export function incompleteReply(
  failure: HttpFailure,
  place: { readonly session_id?: string; readonly message_id?: string },
): ParleyError {
  const code = codes[failure.kind] === 'NETWORK' ? 'INCOMPLETE_REPLY' : codes[failure.kind];
  const kept =
    place.session_id === undefined ? '' : ` The message may be kept in session ${place.session_id}.`;
  return new ParleyError(code, `The reply broke off before its end: ${failure.message}.`, {
    hint: `The part that came is not a whole reply.${kept}`,
    ...place,
    cause: failure,
  });
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
