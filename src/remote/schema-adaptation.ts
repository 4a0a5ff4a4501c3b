// Adapts a chat with a schema to a server that does not support schemas: the schema becomes part of the message, in words.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import { schemaInstructions } from '../service/schema-instructions.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { hasExtension } from './required-extension.ts';

/** The request in a form that the server supports. */
export async function adaptSchema(
  connection: RemoteConnection,
  call: Call,
  request: ChatRequest,
): Promise<ChatRequest> {
  const { schema, ...others } = request;
  if (schema === undefined || (await hasExtension(connection, call, 'schema'))) return request;
  const instructions = schemaInstructions(schema);
  // A message that asks for a correction already contains the instructions.
  if (request.message.includes(instructions)) return others;
  return { ...others, message: `${request.message}\n\n${instructions}` };
}
