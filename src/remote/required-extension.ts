// Finds out whether a server offers an extension before a request that needs it is sent. A server without it would refuse the request, or
// silently ignore a part of it.
import type { Call } from '../service/call.ts';
import { ParleyError } from '../service/errors.ts';
import type { Extension } from '../service/extensions.ts';
import type { RemoteConnection } from './remote-connection.ts';

/** Rejects with `UNSUPPORTED` if the server lacks the extension. `limitation` ends the sentence "This server …". */
export async function requireExtension(
  connection: RemoteConnection,
  call: Call,
  extension: Extension,
  limitation: string,
): Promise<void> {
  if (await hasExtension(connection, call, extension)) return;
  throw new ParleyError('UNSUPPORTED', `This server ${limitation}.`, {
    hint: `Nothing was sent. A server that supports it lists \`${extension}\` in its header Parley-Extensions.`,
  });
}

/** Asks the server once if it has not responded yet, because the extensions that an earlier process stored may be outdated. */
export async function hasExtension(
  connection: RemoteConnection,
  call: Call,
  extension: Extension,
): Promise<boolean> {
  if (connection.offers(extension) !== true && !connection.hasResponded) {
    const keylessCall = { ...call, idempotencyKey: null };
    await connection.result(keylessCall, 'models', {}, (body) => body).catch(ignoreUnsupported);
  }
  return connection.offers(extension) === true;
}

/** Ignores the failure of a server that does not list its models. */
function ignoreUnsupported(error: unknown): void {
  if (!(error instanceof ParleyError) || error.kind === 'key' || error.kind === 'transient') throw error;
}
