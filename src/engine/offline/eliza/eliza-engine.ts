// The engine behind the mode `eliza`. It keeps nothing: each reply replays what the user said in the session, so the context
// carries over between processes as it stands in the store.
import type { EngineContext, EngineEvent, ReplyEngine } from '../../reply-engine.ts';
import { replyStream } from '../reply-stream.ts';
import { Dialogue } from './dialogue.ts';
import type { Script } from './script.ts';

export class ElizaEngine implements ReplyEngine {
  readonly name = 'eliza';
  readonly historyMessages = 400;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  async *reply(
    context: EngineContext,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineEvent> {
    options.signal.throwIfAborted();
    const dialogue = new Dialogue(this.#script);
    for (const { role, content } of context.history) {
      if (role === 'user') dialogue.respond(content);
    }
    yield* replyStream(dialogue.respond(context.message).split(/(?= )/), options.signal);
  }
}
