// Reads the response of an operation, from any server of the API: the body of a success, or the failure.
import { fieldOf } from '../http/foreign-json.ts';
import { ParleyError } from '../service/errors.ts';
import type { Extension } from '../service/extensions.ts';
import { parseExactJson } from './exact-json.ts';
import {
  badResponse,
  failureOfRefusedKey,
  failureOfResponse,
  notJson,
  type ReceivedResponse,
  reportedCode,
} from './failure-body.ts';
import { type Operation, routes } from './routes.ts';

/** The whole body of a success; null for a deletion whose response has no body. Throws the failure. */
export function successBody(operation: Operation, response: ReceivedResponse): unknown {
  const { status, text } = response;
  const body = parseExactJson(text);
  if (status === 401) throw failureOfRefusedKey(body);
  const missing = missingExtension(operation, status, body);
  if (missing !== null) throw unsupported(operation, missing, body);
  const isSuccess = status >= 200 && status <= 299;
  if (isSuccess && operation === 'deleteSession' && text.trim() === '') return null;
  if (isSuccess && fieldOf(body, 'success') === true) return body;
  if (!isSuccess || fieldOf(body, 'success') === false) throw failureOfResponse(response, body);
  throw badResponse(
    response,
    body,
    body === undefined ? notJson : 'the body does not contain "success": true',
  );
}

/**
 * The extension that the server lacks according to the response; null if it lacks none. A path such as `/v1/sessions/search` names no
 * session. A 404 for it that reports a missing session comes from a server that read `search` as a session id.
 */
function missingExtension(operation: Operation, status: number, body: unknown): Extension | null {
  const { extension, path } = routes[operation];
  if (extension === null || (status !== 404 && status !== 405)) return null;
  return !path.includes(':id') || reportedCode(body) !== 'SESSION_NOT_FOUND' ? extension : null;
}

function unsupported(operation: Operation, extension: Extension, body: unknown): ParleyError {
  const { method, path } = routes[operation];
  const message =
    extension === 'archive'
      ? 'This server offers only the basic API, without the archive.'
      : `This server does not offer the extension ${extension}.`;
  return new ParleyError('UNSUPPORTED', message, {
    hint: `The operation needs ${method} ${path}, which every Parley server of this version supports.`,
    body: body ?? null,
  });
}
