// The answer to an operation, from any server of the API: its body if it is a success, else the failure that it is.
import { fieldOf, parseJson } from '../http/foreign-json.ts';
import { ParleyError } from '../service/errors.ts';
import { codeTold, failureOfAnswer, notThisApi, type ReceivedResponse, refusedKey } from './failure-body.ts';
import { type Operation, routes } from './routes.ts';

/** The body of a success, whole; null for a deletion that is answered with nothing. Throws the failure. */
export function successBody(operation: Operation, answer: ReceivedResponse): unknown {
  const { status, text } = answer;
  const body = parseJson(text);
  if (status === 401) throw refusedKey(body);
  if (lacksExtension(operation, status, body)) throw unsupported(operation, body);
  const isSuccess = status >= 200 && status <= 299;
  if (isSuccess && operation === 'deleteSession' && text.trim() === '') return null;
  if (isSuccess && fieldOf(body, 'success') === true) return body;
  if (!isSuccess || fieldOf(body, 'success') === false) throw failureOfAnswer(answer, body);
  throw notThisApi(
    answer,
    body,
    body === undefined ? 'not with JSON that can be read' : 'without "success": true',
  );
}

/** Where the path names no session, a 404 that speaks of one comes from a server that took the path's end for an id. */
function lacksExtension(operation: Operation, status: number, body: unknown): boolean {
  const { extension, path } = routes[operation];
  if (extension === null || (status !== 404 && status !== 405)) return false;
  return !path.includes(':id') || codeTold(body) !== 'SESSION_NOT_FOUND';
}

function unsupported(operation: Operation, body: unknown): ParleyError {
  const { method, path } = routes[operation];
  return new ParleyError('UNSUPPORTED', 'This server offers only the basic API, without the archive.', {
    hint: `What was asked needs ${method} ${path}, which every Parley server has.`,
    body: body ?? null,
  });
}
