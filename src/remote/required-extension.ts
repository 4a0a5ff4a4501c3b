// Finds out whether a server offers an extension before something is sent that only such a server takes. A server without it would refuse
// the request, or drop a part of it silently.
import type { Call } from '../service/call.ts';
import { ParleyError } from '../service/errors.ts';
import type { Extension } from '../service/extensions.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { remoteResult } from './remote-result.ts';

/** Rejects with `UNSUPPORTED` if the server lacks the extension. `lacking` ends the sentence "This server …". */
export async function requireExtension(
  connection: RemoteConnection,
  call: Call,
  extension: Extension,
  lacking: string,
): Promise<void> {
  if (await hasExtension(connection, call, extension)) return;
  throw new ParleyError('UNSUPPORTED', `This server ${lacking}.`, {
    hint: `Nothing was sent. A server that can do it names \`${extension}\` in its header Parley-Extensions.`,
  });
}

/** Asks the server once, if none of its responses has told its extensions yet: what an earlier process stored may be outdated. */
export async function hasExtension(
  connection: RemoteConnection,
  call: Call,
  extension: Extension,
): Promise<boolean> {
  if (connection.offers(extension) !== true && !connection.hasAnswered) {
    const asked = { ...call, idempotencyKey: null };
    await remoteResult(connection, asked, 'models', {}, (body) => body).catch(ignoreLack);
  }
  return connection.offers(extension) === true;
}

/** A server may not list its models. */
function ignoreLack(error: unknown): void {
  if (!(error instanceof ParleyError) || error.kind === 'key' || error.kind === 'transient') throw error;
}
