// Runs three processes with one idempotency key, and one without, on one session, with leases that are far too short. They are stopped,
// continued and killed at random moments. Every reply that one of them reported as done must be stored, once and unchanged:
// `node scripts/lease-storm.js [--rounds N]`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadedModules } from './bundled-modules.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const { rounds } = readOptions({ rounds: wholeNumber(50) });

const place = temporaryDirectory();
const { bundleChattingProcess, chatIn, openEmbedded, newKey, callWith } = await loadedModules(place, [
  'test/support/paused-process.ts',
  'test/support/embedded.ts',
  'test/support/calls.ts',
]);
const scripts = join(place, 'process');
mkdirSync(scripts);
const script = await bundleChattingProcess(scripts);
const directory = join(place, 'data');
const home = await openEmbedded(directory);
const apiKey = await newKey(home, 'project');
const faults = [];
const ends = {};
const random = (below) => Math.floor(Math.random() * below);

async function disturb({ child }) {
  await delay(200 + random(700));
  if (random(3) === 0) return child.kill('SIGKILL');
  for (let times = random(4); times > 0; times--) {
    child.kill('SIGSTOP');
    await delay(random(200));
    child.kill('SIGCONT');
    await delay(random(200));
  }
}

for (let round = 0; round < rounds; round++) {
  const call = callWith(apiKey);
  const session = (await home.service.createSession(call, { title: null })).data.session_id;
  const shared = { directory, apiKey, session, turnLeaseMs: 60, turnWaitMs: 3000, everyMs: 10 };
  const chats = Array.from({ length: 4 }, (_, index) =>
    chatIn(script, {
      ...shared,
      message: index < 3 ? 'hello' : 'next',
      key: index < 3 ? `key-${round}` : null,
      chunks: Array.from({ length: 10 }, (_, piece) => `${index} ${piece} `),
    }),
  );
  const killer = setTimeout(() => {
    for (const { child } of chats) child.kill('SIGKILL');
  }, 20_000);
  await Promise.all(chats.map((chat) => Promise.all([disturb(chat), chat.ended])));
  clearTimeout(killer);
  const { items } = (await home.archive.listMessages(call, session, { limit: 200, cursor: null })).data;
  const found = (condition, fault) =>
    condition || faults.push({ round, fault, items, reports: chats.map(({ reports }) => reports) });
  found(
    items.every(({ position, role }, index) => position === index && (role === 'user') === (index % 2 === 0)),
    'order',
  );
  found(items.filter(({ content, role }) => role === 'user' && content === 'hello').length <= 1, 'doubled');
  for (const { reports } of chats) {
    const last = reports.at(-1);
    ends[last?.kind === 'error' ? last.code : (last?.kind ?? 'nothing')] ??= 0;
    ends[last?.kind === 'error' ? last.code : (last?.kind ?? 'nothing')]++;
    if (last?.kind !== 'done') continue;
    const stored = items.find(({ message_id }) => message_id === last.message_id);
    found(stored?.content === last.reply && stored.finish_reason === 'stop', 'done for what is not stored');
    const deltas = reports.flatMap(({ kind, text }) => (kind === 'delta' ? [text] : [])).join('');
    found(deltas === last.reply, 'done differs from the deltas');
  }
}
await home.close();
process.stdout.write(`${JSON.stringify({ rounds, ends, faults }, null, 2)}\n`);
if (faults.length > 0) process.exitCode = 1;
