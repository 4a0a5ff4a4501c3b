// A model server whose replies are paced by the test: it sends a chunk, waits, or ends; or its client disconnects.
import type { ServerResponse } from 'node:http';
import { ItemQueue } from './item-queue.ts';
import { chunk, sse, startStream, usageChunk } from './model-server.ts';
import { type ScriptedServer, serve } from './scripted-server.ts';

class PacedCompletion {
  readonly #response: ServerResponse;
  /** The last request to the model. */
  readonly asked: string;
  /** The texts of all messages of the request. */
  readonly sent: readonly string[];
  /** Resolves when the client has disconnected, or the reply has ended. */
  readonly closed: Promise<void>;

  constructor(body: string, response: ServerResponse) {
    this.#response = response;
    this.sent = JSON.parse(body).messages.map(({ content }: { content: string }) => content);
    this.asked = this.sent.at(-1) ?? '';
    this.closed = new Promise((resolve) => response.on('close', () => resolve()));
  }

  say(text: string): void {
    this.#send({ content: text });
  }

  /** Reasoning, which is not part of the reply. */
  think(text: string): void {
    this.#send({ reasoning_content: text });
  }

  #send(delta: Readonly<Record<string, string>>): void {
    if (!this.#response.headersSent) startStream(this.#response);
    this.#response.write(sse(chunk(delta)));
  }

  end(): void {
    this.#response.end(sse(chunk({}, 'stop'), usageChunk, '[DONE]'));
  }
}

export interface PacedModel extends ScriptedServer {
  /** The reply to the next message, which may have arrived already. */
  next(): Promise<PacedCompletion>;
}

export async function openPacedModel(): Promise<PacedModel> {
  const replies = new ItemQueue<PacedCompletion>();
  const server = await serve(({ path, body }, response) => {
    // It does not list its models.
    if (!path.endsWith('/chat/completions')) {
      response.writeHead(404).end();
      return;
    }
    replies.add(new PacedCompletion(body, response));
  });
  return { ...server, next: () => replies.next() };
}
