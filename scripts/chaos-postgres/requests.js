// Sends the requests of the callers: one attempt, with its whole outcome. A chat may be a stream of events, each of which is a sign of life.
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/**
 * Resolves to `{status, retryAfter, body}`, for a stream with the body of its last event; rejects when the connection is lost. `onSign` is
 * called for each chunk, with the events so far.
 */
export function send({ port, key }, { method, path, body, idempotencyKey, streams }, onSign = () => {}) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    ...(streams && { accept: 'text/event-stream' }),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let come = '';
      const isStream = /event-stream/.test(answer.headers['content-type'] ?? '');
      answer.setEncoding('utf8');
      answer.on('data', (piece) => {
        come += piece;
        if (isStream && piece.includes('event:')) onSign(come);
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode: status } = answer;
        try {
          if (isStream) return resolve(endOfStream(come));
          const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN);
          resolve({ status, retryAfter, body: JSON.parse(come) });
        } catch (cause) {
          reject(new Error(`No answer of the API: ${status} ${come.slice(-200)}`, { cause }));
        }
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** Treats a failure in a stream, which has no status of its own, like a response. */
function endOfStream(text) {
  const last = text.trimEnd().split('\n\n').at(-1);
  const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(last) ?? [];
  const body = JSON.parse(data);
  if (event === 'done') return { status: 200, retryAfter: Number.NaN, body };
  if (event !== 'error') throw new Error(`The stream ended with ${event}.`);
  // The code also tells the client to try again in a moment.
  const isUnavailable = body.error.code === 'UNAVAILABLE';
  return { status: isUnavailable ? 503 : 500, retryAfter: isUnavailable ? 1 : Number.NaN, body };
}
