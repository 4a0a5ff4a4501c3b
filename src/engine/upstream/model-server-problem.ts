// What went wrong at a model's server, in one word for a program: the `problem` of a failure's detail whose `field` is `model_server`.
// docs/json.md lists them; a name stays what it is.
import type { HttpFailureKind } from '../../http/http-failure.ts';
import type { Kind } from './upstream-error-reading.ts';

export type ModelServerProblem =
  | 'no_key'
  | 'bad_key'
  | 'forbidden'
  | 'credit'
  | 'unknown_model'
  | 'no_such_address'
  | 'context_too_long'
  | 'rate_limited'
  | 'content_filter'
  | 'overloaded'
  | 'bad_gateway'
  | 'timeout'
  | 'refused'
  | 'failed'
  | 'unreachable'
  | 'untrusted'
  | 'redirect'
  | 'not_an_api'
  | 'broken_off'
  | 'bad_reply'
  | 'empty_reply'
  | 'tool_call';

export const problemOfKind: Readonly<Record<Kind, ModelServerProblem>> = {
  key: 'bad_key',
  forbidden: 'forbidden',
  credit: 'credit',
  model: 'unknown_model',
  address: 'no_such_address',
  context: 'context_too_long',
  rate: 'rate_limited',
  filter: 'content_filter',
  overload: 'overloaded',
  gateway: 'bad_gateway',
  timeout: 'timeout',
  refused: 'refused',
  failed: 'failed',
};

export const problemOfHttp: Readonly<Record<HttpFailureKind, ModelServerProblem>> = {
  refused: 'unreachable',
  unreachable: 'unreachable',
  unknown_host: 'unreachable',
  lookup: 'unreachable',
  proxy: 'unreachable',
  tls: 'untrusted',
  untrusted: 'untrusted',
  broken: 'broken_off',
  timeout: 'timeout',
  redirect: 'redirect',
  too_large: 'not_an_api',
  unreadable: 'not_an_api',
};
