// The problem of a model's server (service/model-server-problem.ts) for each kind of its errors, and for each kind of failed request.
import type { HttpFailureKind } from '../../http/http-failure.ts';
import type { ModelServerProblem } from '../../service/model-server-problem.ts';
import type { UpstreamErrorKind } from './upstream-error-parser.ts';

export const problemOfKind: Readonly<Record<UpstreamErrorKind, ModelServerProblem>> = {
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
