// The engine of the mode `eliza`. It keeps no state: for each reply it replays the user's messages of the session, so another process can
// continue the conversation.
import type { EngineContext, EngineEvent, ReplyEngine } from '../../reply-engine.ts';
import { replyStream } from '../reply-stream.ts';
import type { Dialogue } from './dialogue.ts';

export class ElizaEngine implements ReplyEngine {
  readonly name = 'eliza';
  readonly historyMessages = 400;
  readonly #begin: () => Promise<Dialogue>;

  /** `begin` creates a dialogue without messages. */
  constructor(begin: () => Promise<Dialogue>) {
    this.#begin = begin;
  }

  async *reply(
    context: EngineContext,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineEvent> {
    options.signal.throwIfAborted();
    const dialogue = await this.#begin();
    for (const { role, content } of context.history) {
      if (role === 'user') dialogue.respond(content);
    }
    yield* replyStream(dialogue.respond(context.message).split(/(?= )/), options.signal);
  }
}
