// Measures how fast a store is copied to PostgreSQL and back, and checks that the result is the same:
// `node scripts/bench-copy.js --postgres postgres://USER@HOST/DATABASE [--sessions 100000] [--check]`. A session has six messages of 200
// characters. The schema `parley_copy` must not exist there. It needs the build.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { environment, run } from './measure.js';
import { flag, readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const {
  postgres,
  sessions: count,
  check,
} = readOptions({ postgres: text(), sessions: wholeNumber(100_000), check: flag });
if (postgres === undefined) throw new Error('--postgres takes the address of a database.');
const wanted = 5000;
const perSession = 6;

const root = temporaryDirectory();
const [here, back] = ['here', 'back'].map((name) => join(root, name));
const there = new URL(postgres);
there.searchParams.set('schema', 'parley_copy');
const env = environment(here);
mkdirSync(here);
run([parley, 'chat', '-n', '--mode', 'echo', 'hi'], { env, expect: (output) => output === 'hi\n' });
fill(join(here, 'data', 'parley.db'));
const ways = [
  ['SQLite → PostgreSQL', join(here, 'data'), String(there)],
  ['PostgreSQL → SQLite', String(there), back],
];
const hashes = new Set();
for (const [name, from, to] of ways) {
  const words = [parley, 'store', 'copy', '--from', from, '--to', to, '--json'];
  const { milliseconds, output } = run(words, {
    env,
    expect: (text) => text.startsWith('{"success":true'),
  });
  hashes.add(JSON.parse(output).data.projects[0].hash);
  const rate = Math.round((count * 1000) / milliseconds);
  process.stdout.write(`${name}: ${(milliseconds / 1000).toFixed(1)} s, ${rate} sessions/s, compared\n`);
  if (check && rate < wanted) process.exitCode = 1;
}
process.stdout.write(hashes.size === 1 ? 'Every copy has the same hash.\n' : 'The copies differ.\n');
if (hashes.size !== 1) process.exitCode = 1;

function fill(path) {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const addSession = database.prepare(
    'INSERT INTO sessions (session_id, project, title, created_at, updated_at, message_count) VALUES (?, 1, ?, ?, ?, ?)',
  );
  const addMessage = database.prepare(
    `INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
     VALUES (?, ?, ?, ?, 'echo', ?, ?, ?)`,
  );
  const start = Date.parse('2024-01-01');
  database.transaction(() => {
    for (let index = 1; index < count; index += 1) {
      const id = `ses_0${index.toString(32).padStart(25, '0')}`;
      const { lastInsertRowid } = addSession.run(
        id,
        `title ${index}`,
        start + index,
        start + index,
        perSession,
      );
      for (let position = 0; position < perSession; position += 1) {
        const isReply = position % 2 === 1;
        const text = `${'some words of a message '.repeat(8)}${index} ${position}`;
        const [role, reason] = isReply ? ['assistant', 'stop'] : ['user', null];
        addMessage.run(lastInsertRowid, position, `msg_${id}_${position}`, role, reason, start + index, text);
      }
    }
  })();
  database.close();
}
