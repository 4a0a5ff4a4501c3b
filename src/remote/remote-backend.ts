// Opens the backend of a remote server.
import type { Backend } from '../service/backend.ts';
import { ParleyError } from '../service/errors.ts';
import { readPointer } from '../wire/json-pointer.ts';
import { RemoteArchive } from './remote-archive.ts';
import { RemoteConnection } from './remote-connection.ts';
import type { RemoteOptions } from './remote-options.ts';
import { RemoteService } from './remote-service.ts';

/** Does not connect yet. Rejects with `CONFIG` for an unusable file, variable or pointer. */
export async function openRemoteBackend(options: RemoteOptions): Promise<Backend> {
  const replyPointer = options.replyPointer === null ? null : readPointer(options.replyPointer);
  if (options.replyPointer !== null && replyPointer === null) {
    throw new ParleyError('CONFIG', `The reply_pointer is not a JSON Pointer: ${options.replyPointer}`, {
      hint: 'Use a pointer such as /data/choices/0/text (RFC 6901).',
    });
  }
  const connection = await RemoteConnection.open(options);
  return {
    service: new RemoteService(connection, replyPointer),
    archive: new RemoteArchive(connection, replyPointer),
    administration: null,
    close: () => connection.close(),
    get extensions() {
      return connection.extensions;
    },
  };
}
