// Measures how the archive scales: listing, searching and continuing a session, on a small store and on a large one, alternating:
// `node scripts/bench-archive.js [--sessions 20000] [--rounds 9] [--keep DIR] [--json] [--check]`. A session has five messages. Both stores
// are filled by SQL, in the program's own schema; 1,000,000 sessions take some minutes and about 5 GB.
import { existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describeMachine, environment, machine, quantile, reportOptions, run as runIn } from './measure.js';
import { readOptions, text, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const small = 1000;
const {
  sessions: large,
  rounds,
  keep,
  json,
  check,
} = readOptions({
  sessions: wholeNumber(20_000, { from: small }),
  rounds: wholeNumber(9),
  keep: text(),
  ...reportOptions,
});

const perSession = 5;
const bytesPerSession = 6000;
/** Words that occur in this many messages, in the small store as in the large one; `everywhere` occurs in all. */
const hitCounts = [10, 100, 1000];
const vocabulary = Array.from({ length: 20_000 }, (_, index) => `w${((index * 7919) % 99_991).toString(36)}`);

const root = keep ?? temporaryDirectory();
mkdirSync(root, { recursive: true });
const report = measure();
process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
const over = report.cases.filter(({ isOver }) => isOver);
for (const row of over) process.stderr.write(`${row.name} exceeds its limit.\n`);
if (check && over.length > 0) process.exitCode = 1;

function measure() {
  const free = statfsSync(root);
  if (free.bavail * free.bsize < large * bytesPerSession * 1.5)
    throw new Error(`There is not enough space in ${root}.`);
  const places = [place('small', small), place('large', large)];
  const cases = [
    { name: 'sessions list', words: ['sessions', 'list'], limit: 1.5 },
    {
      name: 'sessions list --older-than',
      words: ['sessions', 'list', '--older-than', '2024-01-01T00:10:00Z'],
      limit: 1.5,
    },
    { name: 'sessions list --reverse', words: ['sessions', 'list', '--reverse'], limit: 1.5 },
    { name: 'sessions list --sort created', words: ['sessions', 'list', '--sort', 'created'], limit: 1.5 },
    {
      name: '  … --older-than --reverse',
      words: ['sessions', 'list', '--sort', 'created', '--older-than', '2024-01-01T00:10:00Z', '--reverse'],
      limit: 1.5,
    },
    { name: 'chat -c', words: ['chat', '-n', '-c', '--mode', 'echo', 'hi'], limit: 1.5 },
    ...hitCounts.map((count) => ({
      name: `search, ${count} hits`,
      words: ['sessions', 'search', `hits${count}`],
      limit: 3,
    })),
    { name: 'search, everywhere', words: ['sessions', 'search', 'everywhere'], milliseconds: 3000 },
    { name: 'search, nowhere', words: ['sessions', 'search', 'nowhere'], limit: 3 },
  ];
  const bare = [];
  const times = cases.map(() => [[], []]);
  for (let round = 0; round < rounds; round += 1) {
    bare.push(runIn(['-e', '0'], { env: places[0].env, expect: () => true }).milliseconds);
    for (const [index, { words }] of cases.entries()) {
      for (const [side, { env }] of places.entries()) {
        const expect = (output) => words.includes('nowhere') || output.includes('\n');
        times[index][side].push(runIn([parley, ...words], { env, expect }).milliseconds);
      }
    }
  }
  return {
    machine: machine(root, bare),
    rounds,
    sessions: [small, large],
    bytes: places.map(({ file }) => statSync(file).size),
    fillSeconds: places.map(({ seconds }) => seconds),
    cases: cases.map(({ name, limit, milliseconds }, index) => {
      const [before, after] = times[index].map((list) => quantile(list, 0.5));
      const ratio = after / before;
      const isOver = limit === undefined ? after > milliseconds : ratio > limit;
      return { name, before, after, ratio, limit: limit ?? null, milliseconds: milliseconds ?? null, isOver };
    }),
  };
}

/** A temporary configuration with this many sessions in its store, which the program creates and SQL fills. */
function place(name, sessions) {
  const home = join(root, name);
  mkdirSync(home, { recursive: true });
  const env = environment(home);
  const file = join(home, 'data', 'parley.db');
  const isThere = existsSync(file);
  runIn([parley, 'chat', '-n', '--mode', 'echo', 'hi'], { env, expect: (output) => output === 'hi\n' });
  const start = process.hrtime.bigint();
  if (!isThere) fill(file, sessions);
  return { env, file, seconds: Number(process.hrtime.bigint() - start) / 1e9 };
}

function fill(file, sessions) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -400000');
  const { id: project } = database.prepare('SELECT id FROM projects').get();
  const addSession = database.prepare(
    `INSERT INTO sessions (session_id, project, title, created_at, updated_at, message_count)
     VALUES (?, ${project}, ?, ?, ?, 0)`,
  );
  const addMessage = database.prepare(
    `INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
     VALUES (?, ?, ?, ?, 'echo', ?, ?, ?)`,
  );
  const began = Date.parse('2024-01-01T00:00:00Z');
  const random = generator(1);
  const every = hitCounts.map((count) => Math.floor((sessions * perSession) / count));
  let number = 0;
  const batch = database.transaction((from, to) => {
    for (let session = from; session < to; session += 1) {
      const time = began + session * 1000;
      const { lastInsertRowid } = addSession.run(`ses_bench${session}`, `session ${session}`, time, time);
      // Messages and replies alternate, as in a store of the program.
      for (let position = 0; position < perSession - (session % 2 === 0 ? 1 : -1); position += 1) {
        const rare = hitCounts.filter(
          (_, index) => number % every[index] === 0 && number / every[index] < hitCounts[index],
        );
        const words = Array.from(
          { length: 40 },
          () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)],
        );
        const text = ['everywhere', ...rare.map((count) => `hits${count}`), ...words].join(' ');
        const isReply = position % 2 === 1;
        addMessage.run(
          lastInsertRowid,
          position,
          `msg_${number}`,
          isReply ? 'assistant' : 'user',
          isReply ? 'stop' : null,
          time,
          text,
        );
        number += 1;
      }
    }
  });
  for (let from = 0; from < sessions; from += 10_000) batch(from, Math.min(sessions, from + 10_000));
  database.exec(
    'UPDATE sessions SET message_count = (SELECT count(*) FROM messages WHERE session = sessions.id)',
  );
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

/** The same numbers in every run (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function describe(report) {
  const [few, many] = report.sessions;
  const megabytes = report.bytes.map((bytes) => `${Math.round(bytes / 1e6)} MB`);
  const lines = [
    ...describeMachine(report.machine, report.rounds),
    `${few} sessions: ${megabytes[0]}; ${many} sessions, ${many * perSession} messages: ${megabytes[1]}, filled in ${Math.round(report.fillSeconds[1])} s`,
    '',
    `${'case'.padEnd(28)}  ${'ms'.padStart(6)}  ${'large'.padStart(6)}  ratio  limit`,
  ];
  for (const { name, before, after, ratio, limit, milliseconds } of report.cases) {
    lines.push(
      `${name.padEnd(28)}  ${before.toFixed(0).padStart(6)}  ${after.toFixed(0).padStart(6)}  ${ratio.toFixed(2).padStart(5)}  ${limit ?? `${milliseconds} ms`}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
