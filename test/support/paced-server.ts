// A server with only the basic API, whose replies are paced by the test: it sends a chunk, waits, ends, or breaks off.
import type { ServerResponse } from 'node:http';
import { encodeEvent } from '../../src/wire/chat-event-encoding.ts';
import { ItemQueue } from './item-queue.ts';
import { type ReceivedRequest, type ScriptedServer, sendJson, serve } from './scripted-server.ts';

class PacedReply {
  readonly #response: ServerResponse;
  readonly #place: { readonly session_id: string; readonly message_id: string; readonly mode: string };
  readonly body: { readonly message: string; readonly mode: string; readonly session_id?: string };
  readonly key: string;
  /** Resolves when the client has disconnected, or the reply has ended. */
  readonly closed: Promise<void>;
  #said = '';

  constructor({ body, headers }: ReceivedRequest, response: ServerResponse, count: number) {
    this.#response = response;
    this.body = JSON.parse(body);
    this.key = String(headers['idempotency-key']);
    const session_id = this.body.session_id ?? `session-${count}`;
    this.#place = { session_id, message_id: `message-${count}`, mode: this.body.mode };
    this.closed = new Promise((resolve) => response.on('close', () => resolve()));
  }

  /** Reports that the message is stored, and nothing else. */
  begin(): void {
    this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(encodeEvent({ event: 'session', data: this.#place }));
  }

  say(text: string): void {
    if (!this.#response.headersSent) this.begin();
    this.#said += text;
    this.#response.write(encodeEvent({ event: 'delta', data: { text } }));
  }

  end(): void {
    const data = { ...this.#place, reply: this.#said };
    this.#response.end(encodeEvent({ event: 'done', data: data as never, body: { success: true, data } }));
  }

  cut(): void {
    this.#response.destroy();
  }

  refuse(status: number, code: string, message: string): void {
    sendJson(this.#response, { success: false, error: { code, message } }, status);
  }
}

export interface PacedServer extends ScriptedServer {
  /** The reply to the next message, which may have arrived already. */
  next(): Promise<PacedReply>;
}

export async function openPacedServer(): Promise<PacedServer> {
  const replies = new ItemQueue<PacedReply>();
  const server = await serve((request, response, count) => {
    if (request.method === 'POST' && request.path === '/v1/chat') {
      replies.add(new PacedReply(request, response, count));
    } else if (request.path === '/v1/models') {
      sendJson(response, { success: true, data: ['slow', 'other'] });
    } else if (request.method === 'GET' && /^\/v1\/sessions\/[^/]+$/.test(request.path)) {
      const session_id = decodeURIComponent(request.path.split('/').at(-1) ?? '');
      const data = { session_id, title: 'Slowly', created_at: '2026-01-01T00:00:00.000Z', message_count: 0 };
      sendJson(response, { success: true, data });
    } else {
      sendJson(response, { message: 'no such route' }, 404);
    }
  });
  return { ...server, next: () => replies.next() };
}
