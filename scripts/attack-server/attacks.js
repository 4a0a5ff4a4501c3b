// The attacks of attack-server.js: requests that take much more work than their bytes suggest, or a long time.
const size = 8 * 1024 * 1024 - 1024;
const filled = (before, unit, after) =>
  `${before}${Array(Math.floor((size - before.length - after.length) / (unit.length + 1)))
    .fill(unit)
    .join(',')}${after}`;
const time = '2026-01-31T00:00:00.000Z';
const message = (position, content) => ({
  message_id: `m${position}`,
  position,
  role: position % 2 ? 'assistant' : 'user',
  content,
  mode: 'echo',
  finish_reason: position % 2 ? 'stop' : null,
  usage: null,
  created_at: time,
});
let sessions = 0;
const record = (count, content) => {
  const session_id = `ses_attack_${process.pid}_${sessions++}`;
  const session = { session_id, title: null, created_at: time, updated_at: time, message_count: count };
  return JSON.stringify({
    session,
    messages: Array.from({ length: count }, (_, at) => message(at, content)),
  });
};
const importPath = '/v1/sessions/import';
/** By name: a function that creates the path and the body of a request. */
export const attacks = {
  'messages of {}': () => [importPath, filled('{"session":{},"messages":[', '{}', ']}')],
  // Small bodies that would become large values.
  'messages of ever-new names, 100 KiB': () => [
    importPath,
    `{"session":{},"messages":[${Array.from({ length: 9_000 }, (_, at) => `{"${at.toString(36)}k":0}`).join(',')}]}`,
  ],
  'messages of {"a":{}}, 90 KiB': () => [
    importPath,
    `{"session":{},"messages":[${Array(9_999).fill('{"a":{}}').join(',')}]}`,
  ],
  'session_ids of 1': () => ['/v1/sessions/batch-delete', filled('{"session_ids":[', '1', ']}')],
  'session_ids of 1,000': () => [
    '/v1/sessions/batch-delete',
    JSON.stringify({ session_ids: Array.from({ length: 1000 }, (_, at) => `ses_${at}${'x'.repeat(100)}`) }),
  ],
  'deep lists': () => ['/v1/sessions', `{"title":${'['.repeat(size / 2 - 10)}${']'.repeat(size / 2 - 10)}}`],
  'unknown fields': () => [
    '/v1/sessions',
    `{${Array.from({ length: 600_000 }, (_, at) => `"${at.toString(36)}k":0`).join(',')}}`,
  ],
  'one long title': () => ['/v1/sessions', `{"title":"${'x'.repeat(size - 20)}"}`],
  'a title of escapes': () => ['/v1/sessions', `{"title":"${'\\u0001'.repeat(size / 6 - 20)}"}`],
  'a title of é': () => ['/v1/sessions', `{"title":"${'é'.repeat(size / 2 - 20)}"}`],
  'a long name': () => ['/v1/sessions', `{"${'x'.repeat(size - 20)}":1}`],
  'an import of 10,000': () => [importPath, record(10_000, 'x'.repeat(600))],
  'an import of 10,000 short': () => [importPath, record(10_000, 'x')],
  'an import of 8 MiB in 8': () => [importPath, record(8, 'word '.repeat(200_000))],
  'an import of one long reply': () => {
    const whole = JSON.parse(record(2, 'x'));
    whole.messages[1].content = 'x'.repeat(size - 1000);
    return [importPath, JSON.stringify(whole)];
  },
  'a message of 1 MiB': () => [
    '/v1/chat',
    JSON.stringify({ mode: 'echo', message: 'x'.repeat(1024 * 1024) }),
  ],
  'a message of line breaks': () => [
    '/v1/chat',
    JSON.stringify({ mode: 'echo', message: `${'\n'.repeat(1024 * 1024 - 1)}x` }),
  ],
  'a message to eliza': () => [
    '/v1/chat',
    JSON.stringify({ mode: 'eliza', message: 'i remember my mother '.repeat(49_000) }),
  ],
  'a message to eliza of one word': () => [
    '/v1/chat',
    JSON.stringify({ mode: 'eliza', message: 'a'.repeat(1024 * 1024) }),
  ],
};

const chinese = (length) =>
  Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000))).join('');
const someWords = (length) =>
  Array.from({ length: length / 7 }, () => Math.floor(Math.random() * 2e9).toString(36)).join(' ');
const chat = (message) => ({
  method: 'POST',
  path: '/v1/chat',
  body: JSON.stringify({ mode: 'echo', message }),
});
const imports = (count, content) => ({ method: 'POST', path: importPath, body: record(count, content) });
const find = (word) => ({ method: 'GET', path: `/v1/sessions/search?q=${encodeURIComponent(word)}` });
const together = (requests) => (send) => Promise.all(requests.map((one) => send(one)));
/** Attacks of more than one request: each returns a function that gets the sender of a request. */
export const sequences = {
  'four imports of 9,998 at once': () =>
    together(Array.from({ length: 4 }, () => imports(9998, 'x'.repeat(600)))),
  'twelve imports of 9,998 at once': () =>
    together(Array.from({ length: 12 }, () => imports(9998, 'x'.repeat(600)))),
  'a search behind 1 MiB of Chinese': () => async (send) => [
    await send(chat(chinese(349_000))),
    await send(find('東京都')),
  ],
  'a search behind 8 MiB of Chinese': () => async (send) => [
    await send(imports(8, chinese(349_000))),
    await send(find('東京都')),
  ],
  'a search behind 8 MiB of Chinese in 400': () => async (send) => [
    await send(imports(400, chinese(6900))),
    await send(find('東京都')),
  ],
  'a search behind 1 MiB of words': () => async (send) => [
    await send(chat(someWords(1_000_000))),
    await send(find('word')),
  ],
  'a search behind 8 MiB of words in 80': () => async (send) => [
    await send(imports(80, someWords(100_000))),
    await send(find('word')),
  ],
  'batch deletes of 10,000': () => async (send) => {
    const made = [];
    while (made.length < 10_000) {
      const creates = Array.from({ length: 100 }, () =>
        send({ method: 'POST', path: '/v1/sessions', body: '{}' }, true),
      );
      made.push(...(await Promise.all(creates)));
    }
    const ids = made.map((text) => JSON.parse(text).data.session_id);
    return Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        send({
          method: 'POST',
          path: '/v1/sessions/batch-delete',
          body: JSON.stringify({ session_ids: ids.slice(at * 1000, at * 1000 + 1000) }),
        }),
      ),
    );
  },
};
