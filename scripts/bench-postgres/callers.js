// The servers and the load of the benchmark, each in a process of its own, and the requests that are sent.
import { ask, forkedScript } from '../served-place.js';

/** `wanted`: the options of `forkedScript`. */
export async function openLoad(wanted) {
  const load = await forkedScript('bench-serve/load.js', [], wanted);
  return {
    /** Keeps 32 connections to each of these servers busy for this long, with the requests in turn. */
    run(urls, requests, options = {}) {
      const ports = urls.map((url) => Number(new URL(url).port));
      return ask(load, { ports, requests, milliseconds: legMilliseconds, ...options });
    },
  };
}

export const legMilliseconds = 2000;

export function requestText(method, path, key, body = '') {
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${type}\r\n${body}`;
}

export const title = 'A session of the benchmark';

export function writes(key) {
  return [requestText('POST', '/v1/sessions', key, JSON.stringify({ title }))];
}

export function reads(key, ids) {
  return ids.map((id) => requestText('GET', `/v1/sessions/${id}`, key));
}

export function listings(key) {
  return [requestText('GET', '/v1/sessions?limit=50', key)];
}

export const question = 'What do you say to a message of the usual length, of which the model makes its own?';

/** Messages to the sessions in turn. If there are more sessions than connections, no session gets two messages at a time. */
export function turns(key, ids) {
  return ids.map((session_id) =>
    requestText('POST', '/v1/chat', key, JSON.stringify({ mode: 'test', message: question, session_id })),
  );
}
