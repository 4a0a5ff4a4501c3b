// A server in memory that stores turns, with or without support for Idempotency-Key. A proxy in front of it loses a share of the responses
// after the server has acted: the connection ends instead, at once, in the middle, or just before the end.
import type { ServerResponse } from 'node:http';
import { encodeEvent } from '../../src/wire/chat-event-encoding.ts';
import { type ReceivedRequest, type ScriptedServer, serve } from './scripted-server.ts';

export interface TurnServer {
  readonly server: ScriptedServer;
  /** Messages stored, in order. */
  readonly stored: readonly string[];
  readonly deleted: readonly string[];
  readonly lost: () => number;
}

export interface TurnServerOptions {
  readonly honoursKeys: boolean;
  /** Null if the response to the request with this number arrives; otherwise how much of it arrives (0 to 1). */
  readonly loses: (count: number) => number | null;
}

export async function openTurnServer({ honoursKeys, loses }: TurnServerOptions): Promise<TurnServer> {
  const stored: string[] = [];
  const deleted: string[] = [];
  const answers = new Map<string, string>();
  let lost = 0;

  const turn = (request: ReceivedRequest): string => {
    const key = String(request.headers['idempotency-key']);
    const before = answers.get(key);
    if (honoursKeys && before !== undefined) return before;
    const { message, mode } = JSON.parse(request.body);
    stored.push(message);
    const data = { session_id: `ses_${stored.length}`, message_id: `msg_${stored.length}`, mode };
    const done = { ...data, reply: message };
    const answer = [
      encodeEvent({ event: 'session', data }),
      encodeEvent({ event: 'delta', data: { text: message } }),
      encodeEvent({ event: 'done', data: done as never, body: { success: true, data: done } }),
    ].join('');
    answers.set(key, answer);
    return answer;
  };

  const deletion = (id: string): [number, string] => {
    if (deleted.includes(id)) {
      return [404, '{"success":false,"error":{"code":"SESSION_NOT_FOUND","message":"Gone."}}'];
    }
    deleted.push(id);
    return [200, `{"success":true,"data":{"session_id":"${id}"}}`];
  };

  const send = (response: ServerResponse, status: number, type: string, text: string, count: number) => {
    const share = loses(count);
    if (share !== null) lost += 1;
    if (share === 0) return response.destroy();
    const extensions = honoursKeys ? { 'Parley-Extensions': 'idempotency, stream' } : {};
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      ...extensions,
    });
    if (share === null) return response.end(text);
    return response.write(Buffer.from(text).subarray(0, Math.floor(text.length * share)), () =>
      response.destroy(),
    );
  };

  const server = await serve((request, response, count) => {
    if (request.method === 'DELETE') {
      const [status, text] = deletion(request.path.split('/').at(-1) ?? '');
      send(response, status, 'application/json', text, count);
    } else if (request.method === 'POST' && request.path === '/v1/chat') {
      send(response, 200, 'text/event-stream', turn(request), count);
    } else {
      send(response, 200, 'application/json', '{"success":true,"data":[]}', count);
    }
  });
  return { server, stored, deleted, lost: () => lost };
}
