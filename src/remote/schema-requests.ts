// The schema of a chat at a server that is not known to take schemas: it becomes a part of the message, in words.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import { schemaInstructions } from '../service/schema-instructions.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { hasExtension } from './required-extension.ts';

/** The request as the server takes it. */
export async function withFittedSchema(
  connection: RemoteConnection,
  call: Call,
  request: ChatRequest,
): Promise<ChatRequest> {
  const { schema, ...others } = request;
  if (schema === undefined || (await hasExtension(connection, call, 'schema'))) return request;
  const words = schemaInstructions(schema);
  // A message that asks for a correction has the words already.
  if (request.message.includes(words)) return others;
  return { ...others, message: `${request.message}\n\n${words}` };
}
