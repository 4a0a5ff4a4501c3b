// Carries out one operation at a server: sends the request, checks for success, and reads the body.
import type { Call } from '../service/call.ts';
import type { Result } from '../service/result.ts';
import { badResponse } from '../wire/failure-body.ts';
import type { Operation } from '../wire/routes.ts';
import { successBody } from '../wire/success-body.ts';
import { redactError } from './failure-redaction.ts';
import type { OperationRequest, RemoteConnection } from './remote-connection.ts';

/** `read` returns null for a body without the result of the operation. The call then rejects with `BAD_RESPONSE`. */
export async function remoteResult<T>(
  connection: RemoteConnection,
  call: Call,
  operation: Operation,
  input: OperationRequest,
  read: (body: unknown) => T | null,
): Promise<Result<T>> {
  try {
    const { received } = await connection.sendWithRetries(connection.prepare(call, operation, input));
    const body = successBody(operation, received);
    const data = read(body);
    if (data === null) throw badResponse(received, body, 'the body does not contain the requested data');
    return { data, body };
  } catch (error) {
    throw redactError(error, call.apiKey);
  }
}
