// The problem at a model's server, in one word for programs: the `problem` of the error detail whose `field` is `model_server`.
// docs/json.md lists these words. A word never changes its meaning.
import type { ParleyError } from './errors.ts';

export const modelServerProblems = [
  'no_key',
  'bad_key',
  'forbidden',
  'credit',
  'unknown_model',
  'no_such_address',
  'context_too_long',
  'rate_limited',
  'content_filter',
  'overloaded',
  'bad_gateway',
  'timeout',
  'refused',
  'failed',
  'unreachable',
  'untrusted',
  'redirect',
  'not_an_api',
  'broken_off',
  'bad_reply',
  'empty_reply',
  'tool_call',
] as const;

export type ModelServerProblem = (typeof modelServerProblems)[number];

/** Null for a failure that did not come from a model's server. */
export function modelServerProblemOf({ details }: ParleyError): ModelServerProblem | null {
  const detail = details.find(({ field }) => field === 'model_server');
  return modelServerProblems.find((problem) => problem === detail?.problem) ?? null;
}
