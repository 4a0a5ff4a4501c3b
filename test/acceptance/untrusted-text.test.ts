// Text of a server on a real terminal: every attack as the name of a mode, a title, a message, a reply, an error and a failed deletion. Without
// colour and with TERM=dumb, Parley itself writes no control characters.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attacks, isHarmless } from '../cli/terminal/attacks.ts';
import { Place } from '../support/parley.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new Place();
const texts = Object.values(attacks);
const time = '2026-01-01T00:00:00.000Z';
let server: ScriptedServer;

beforeAll(async () => {
  server = await serve(({ method, path, body }, response) => {
    response.setHeader('Parley-Extensions', 'archive');
    const success = (data: unknown) => sendJson(response, { success: true, data });
    if (path === '/v1/models') {
      return success(texts.map((text, index) => ({ name: text, description: text, default: index === 0 })));
    }
    if (path.startsWith('/v1/sessions?')) return success({ items: texts.map(sessionOf), next_cursor: null });
    if (/\/messages\?/.test(path)) return success({ items: texts.map(messageOf), next_cursor: null });
    if (method === 'POST' && path === '/v1/chat') {
      const { message } = JSON.parse(body);
      if (message === 'reply') return success({ session_id: 'ses_1', reply: texts.join('\n') });
      return failure(response, texts.slice(Number(message)).slice(0, 8).join(' '));
    }
    if (method === 'GET') return success(sessionOf('one', 1));
    return failure(response, texts.join(' '));
  });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

function sessionOf(title: string, index: number) {
  return { session_id: `ses_${index}`, title, created_at: time, updated_at: time, message_count: 2 };
}

function messageOf(content: string, position: number) {
  const role = position % 2 === 0 ? 'user' : 'assistant';
  return {
    ...{ message_id: `msg_${position}`, position, role, content, mode: content, created_at: time },
    ...{ finish_reason: role === 'user' ? null : 'stop', usage: null },
  };
}

function failure(response: Parameters<typeof sendJson>[0], text: string): void {
  sendJson(response, { success: false, error: { code: text, message: text } }, 500);
}

/** The output to the terminal, with its own line ends. */
async function shown(words: readonly string[], keys = ''): Promise<string> {
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'none', TERM: 'dumb', NO_COLOR: '1', NO_PROXY: '*' };
  const screen = place.screen(words, { env, columns: 200, rows: 50 });
  screen.type(keys);
  await screen.ended;
  const { bytes } = screen;
  screen.close();
  return bytes.replaceAll('\r\n', '\n').replaceAll('\x04', '').replaceAll('\b', '');
}

test.each([
  ['names of modes', ['models'], ''],
  ['titles', ['sessions', 'list'], ''],
  ['a title', ['sessions', 'get', 'ses_1'], ''],
  ['messages', ['sessions', 'messages', 'ses_1'], ''],
  ['a reply', ['chat', '-n', '-m', 'any', 'reply'], ''],
  ['a reply as it is', ['chat', '-n', '-m', 'any', '--raw', 'reply'], ''],
  ['the failure of a deletion', ['sessions', 'delete', 'ses_1'], ''],
  ['the turns of before in the REPL', ['repl', '-m', 'any', '-s', 'ses_1'], '\x04'],
] as const)('%s drive no terminal', async (_name, words, keys) => {
  const text = await shown(words, keys);
  // The attack is there, and visible.
  if (words[1] !== 'get') expect(text).toContain('\\x1b');
  expect(isHarmless(text), JSON.stringify(text)).toBe(true);
});

// Eight attacks at a time; test/cli/terminal/filter-matrix.test.ts tries each alone, cut at every place.
test('no error of a server can control a terminal', async () => {
  for (let first = 0; first < texts.length; first += 8) {
    const text = await shown(['chat', '-n', '-m', 'any', String(first)]);
    expect(isHarmless(text), JSON.stringify(text)).toBe(true);
  }
}, 60_000);
