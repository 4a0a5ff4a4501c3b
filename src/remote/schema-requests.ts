// The schema of a chat at a server that is not known to take schemas: it becomes a part of the message, in words.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import { schemaInstructions } from '../service/schema-instructions.ts';

export class SchemaRequests {
  readonly #takesSchemas: () => boolean | null;
  readonly #ask: (call: Call) => Promise<unknown>;
  #asked: Promise<unknown> | null = null;

  /** `takesSchemas`: null while that is not known. `ask`: any request, whose response shows it. */
  constructor(takesSchemas: () => boolean | null, ask: (call: Call) => Promise<unknown>) {
    this.#takesSchemas = takesSchemas;
    this.#ask = ask;
  }

  /** The request as the server takes it. */
  async fitted(call: Call, request: ChatRequest): Promise<ChatRequest> {
    const { schema, ...others } = request;
    if (schema === undefined) return request;
    if (this.#takesSchemas() === null) {
      this.#asked ??= this.#ask(call);
      await this.#asked;
    }
    if (this.#takesSchemas() === true) return request;
    const words = schemaInstructions(schema);
    // A message that asks for a correction has the words already.
    if (request.message.includes(words)) return others;
    return { ...others, message: `${request.message}\n\n${words}` };
  }
}
