// The failure of a model as clients see it: its kind, what to do, and where the message is stored. The address, the text and the settings of
// the model's server go only to the log.
import { duration } from '../service/duration.ts';
import type { ParleyError } from '../service/errors.ts';
import { type ModelServerProblem, modelServerProblemOf } from '../service/model-server-problem.ts';

const seeLog = 'The operator of this server can find the cause in its log. Another mode may work.';
const tryAgain = 'Try again in a moment.';
const rephrase = 'Rephrase the message, or use another mode.';

/** For each problem, the end of the sentence "The model server of this mode …", and the advice for the client. */
const texts = {
  no_key: ['cannot be used: this server has no key for it', seeLog],
  bad_key: ['does not accept the key that this server has for it', seeLog],
  forbidden: ['does not allow this request', seeLog],
  credit: ['requires a payment by the operator of this server', seeLog],
  unknown_model: ['does not have the model of the mode', seeLog],
  no_such_address: ['offers no chat completions at the address of the mode', seeLog],
  context_too_long: ['considers the conversation too long', 'Send less, or begin a new session.'],
  rate_limited: ['accepts no more requests for now', tryAgain],
  content_filter: ['blocked this with its content filter', rephrase],
  overloaded: ['is overloaded or not ready', tryAgain],
  bad_gateway: ['is overloaded or not ready', tryAgain],
  timeout: ['did not answer in time', tryAgain],
  refused: ['refuses the request', seeLog],
  failed: ['failed', tryAgain],
  unreachable: ['cannot be reached', tryAgain],
  untrusted: ['cannot be reached over a trusted connection', seeLog],
  redirect: ['redirects to another address, to which nothing was sent', seeLog],
  not_an_api: ['sent a response that is not a chat completion', seeLog],
  broken_off: ['broke off its reply', tryAgain],
  bad_reply: ['sent a reply that cannot be read', tryAgain],
  empty_reply: ['sent no reply', tryAgain],
  tool_call: ['requested a tool instead of replying, and no tools are available', rephrase],
} as const satisfies Record<ModelServerProblem, readonly [what: string, advice: string]>;

export function modelFailure(error: ParleyError): ParleyError {
  const problem = modelServerProblemOf(error);
  const [what, advice] =
    problem === null
      ? ['The engine failed.', '']
      : [`The model server of this mode ${texts[problem][0]}.`, texts[problem][1]];
  const { retryAfter, session_id } = error;
  const location = session_id === null ? '' : `The message is kept in session ${session_id}. `;
  const wait = retryAfter ? `Try again in ${duration(retryAfter)}.` : advice;
  return error.with({ message: what, hint: `${location}${wait}`.trim(), remedy: null, body: null });
}
