// The failure of a model, as clients get it: its kind, what to do, and where the message is stored. The address, the text and the settings
// of the model's server go only to the log.
import type { ParleyError } from '../service/errors.ts';
import { type ModelServerProblem, modelServerProblemOf } from '../service/model-server-problem.ts';

const operator = 'The operator of this server finds the cause in its log. Another mode may work.';
const again = 'Try again in a moment.';
const otherWords = 'Say it in other words, or use another mode.';

/** The text for each problem, behind "The model server of this mode", and the remedy for the client. */
const words = {
  no_key: ['cannot be asked: this server has no key for it', operator],
  bad_key: ['does not accept the key that this server has for it', operator],
  forbidden: ['does not allow this server to ask that', operator],
  credit: ['asks the operator of this server for payment first', operator],
  unknown_model: ['does not have the model of the mode', operator],
  no_such_address: ['offers no chat completions where they are asked for', operator],
  context_too_long: ['finds the conversation too long', 'Send less, or begin a new session.'],
  rate_limited: ['accepts no more requests for now', again],
  content_filter: ['stopped this with its content filter', otherWords],
  overloaded: ['is overloaded or not ready', again],
  bad_gateway: ['is overloaded or not ready', again],
  timeout: ['did not answer in time', again],
  refused: ['refuses the request', operator],
  failed: ['failed', again],
  unreachable: ['cannot be reached', again],
  untrusted: ['cannot be reached over a connection that is trusted', operator],
  redirect: ['redirects elsewhere, and nothing was sent there', operator],
  not_an_api: ['answered with something that is no chat completion', operator],
  broken_off: ['broke off its reply', again],
  bad_reply: ['sent a reply that cannot be read', again],
  empty_reply: ['sent no reply', again],
  tool_call: ['asked for a tool in place of a reply, and none is offered to it', otherWords],
} as const satisfies Record<ModelServerProblem, readonly [what: string, advice: string]>;

export function modelFailure(error: ParleyError): ParleyError {
  const problem = modelServerProblemOf(error);
  const [what, advice] =
    problem === null
      ? ['The engine failed.', '']
      : [`The model server of this mode ${words[problem][0]}.`, words[problem][1]];
  const { retryAfter, session_id } = error;
  const kept = session_id === null ? '' : `The message is kept in session ${session_id}. `;
  const wait = retryAfter === null ? advice : `Try again in ${retryAfter} s.`;
  return error.with({ message: what, hint: `${kept}${wait}`.trim(), remedy: null, body: null });
}
