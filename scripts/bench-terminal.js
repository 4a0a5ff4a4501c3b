// Measures how many tokens per second pass the terminal filter and the Markdown renderer, written one at a time to a terminal that accepts
// all: `node scripts/bench-terminal.js [--rounds N] [--json] [--check]`. The floor is the same loop that only joins the tokens; another case
// is the writer that only filters. Then it measures the memory for a reply of 10 MB. `--check` fails if a case is below its limit.
import { cpus } from 'node:os';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadedModules } from './bundled-modules.js';
import { quantile, reportOptions } from './measure.js';
import { readOptions, wholeNumber } from './script-options.js';
import { temporaryDirectory } from './temporary-directory.js';

const tokens = 100_000;
const largeReply = 10_000_000;
const { rounds, json, check } = readOptions({ rounds: wholeNumber(7), ...reportOptions });

// Only live memory counts, not garbage.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const { createOutput, replyWriter } = await loadedModules(temporaryDirectory(), [
  'src/cli/terminal/output.ts',
  'src/cli/terminal/reply-writer.ts',
]);

const report = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  tokens,
  rounds,
  speed: await speeds(),
  memory: await memories(),
};
process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
const missed = [
  ...report.speed
    .filter((row) => row.median < row.limit)
    .map((row) => `${row.name}: ${row.median} tokens/s, limit ${row.limit}`),
  ...report.memory
    .filter((row) => row.grown > row.limit)
    .map((row) => `${row.name}: ${row.grown} MB, limit ${row.limit}`),
];
for (const line of missed) process.stderr.write(`${line}\n`);
if (check && missed.length > 0) process.exitCode = 1;

/** Tokens of four characters, cut from a repeated text. */
function tokensOf(sample, count) {
  const text = sample.repeat(Math.ceil((count * 4) / sample.length));
  return Array.from({ length: count }, (_, at) => text.slice(at * 4, at * 4 + 4));
}

function samples() {
  const prose =
    'The quick brown fox jumps over the lazy dog, and nobody minds. A reply is mostly such prose: words, and a **strong ' +
    'one** here, a piece of `code` there, an [address](https://example.com/path) now and then.\n\nParagraphs end. The next ' +
    'one begins with *emphasis*, goes on for a while without any mark at all, as most sentences do, and comes to its end.\n\n';
  const code =
    '```ts\n/** What it is for. */\nexport function total(items: readonly Item[]): number {\n  let sum = 0;\n' +
    "  for (const { price, count } of items) sum += price * count; // cents\n  if (sum < 0) throw new Error('negative');\n" +
    '  return sum;\n}\n```\n\n';
  const lists =
    '## What to do\n\n1. First **this**, with care\n2. then that:\n   - one `option`\n   - another option\n\n> It is said ' +
    'that this helps.\n\n| Name | Value |\n|------|------:|\n| one | 1 |\n| another | 22 |\n\n';
  return { prose, code, mixed: prose + lists + code };
}

function terminal(colour) {
  let bytes = 0;
  const sink = new Writable({
    decodeStrings: false,
    highWaterMark: 1 << 20,
    write(chunk, _encoding, taken) {
      bytes += chunk.length;
      taken();
    },
  });
  const stream = Object.assign(sink, { isTTY: true, columns: 80 });
  const env = colour ? { FORCE_COLOR: '1' } : {};
  const { signal } = new AbortController();
  return {
    output: createOutput(stream, { role: 'data', env, noColor: !colour, signal }),
    signal,
    written: () => bytes,
  };
}

async function speeds() {
  const cases = Object.entries(samples()).flatMap(([kind, sample]) => {
    const pieces = tokensOf(sample, tokens);
    return [
      { name: `${kind}, joined (floor)`, limit: 0, run: () => joined(pieces) },
      {
        name: `${kind}, filter alone`,
        limit: 0,
        run: () => written(pieces, { markdown: 'never', colour: false }),
      },
      {
        name: `${kind}, rendered`,
        limit: 200_000,
        run: () => written(pieces, { markdown: 'auto', colour: false }),
      },
      {
        name: `${kind}, rendered in colour`,
        limit: 50_000,
        run: () => written(pieces, { markdown: 'auto', colour: true }),
      },
    ];
  });
  const rates = cases.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { run }] of cases.entries()) {
      const start = process.hrtime.bigint();
      await run();
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      // The first round only warms up.
      if (round > 0) rates[index].push(tokens / seconds);
    }
  }
  return cases.map(({ name, limit }, index) => ({
    name,
    median: Math.round(quantile(rates[index], 0.5)),
    quarter: Math.round(quantile(rates[index], 0.25)),
    threeQuarters: Math.round(quantile(rates[index], 0.75)),
    limit,
  }));
}

async function joined(pieces) {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    await null;
  }
  if (text.length !== pieces.length * 4) throw new Error('The floor lost a token.');
}

async function written(pieces, { markdown, colour }) {
  const { output, signal, written: bytes } = terminal(colour);
  const writer = await replyWriter(output, { markdown, signal });
  for (const piece of pieces) await writer.write(piece);
  await writer.endLine();
  if (bytes() < pieces.length) throw new Error('The writer lost its tokens.');
}

/** The growth of the heap while 10 MB are written, in MB. The tokens are generated one by one. */
async function memories() {
  const endless = {
    'mixed blocks': samples().mixed,
    'one paragraph': 'word and **strong** word ',
    'one line without a space': 'abcd',
    'one block of code': samples()
      .code.replace(/\n```\n+$/, '\n')
      .replace(/^```ts\n/, ''),
    'one list': '- an item of a list that never ends\n',
    'one table': '| a cell | another `cell` |\n',
  };
  const rows = [];
  for (const [name, sample] of Object.entries(endless)) {
    const { output, signal } = terminal(true);
    const writer = await replyWriter(output, { markdown: 'auto', signal });
    if (name === 'one block of code') await writer.write('```ts\n');
    if (name === 'one table') await writer.write('| a | b |\n|---|---|\n');
    const text = sample.repeat(Math.ceil(4096 / sample.length));
    const start = process.hrtime.bigint();
    let min = Number.POSITIVE_INFINITY;
    let max = 0;
    let sent = 0;
    for (let next = 0; sent < largeReply; ) {
      for (let at = 0; at < text.length; at += 4) await writer.write(text.slice(at, at + 4));
      sent += text.length;
      if (sent < next) continue;
      next = sent + largeReply / 10;
      collect();
      const { heapUsed } = process.memoryUsage();
      min = Math.min(min, heapUsed);
      max = Math.max(max, heapUsed);
    }
    await writer.endLine();
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    rows.push({
      name,
      grown: Math.round((max - min) / 1e5) / 10,
      seconds: Math.round(seconds * 10) / 10,
      limit: 16,
    });
  }
  return rows;
}

function describe({ node, cpu, speed, memory }) {
  const lines = [
    `Node ${node}, ${cpu}`,
    `${tokens} tokens of 4 characters, ${rounds} rounds`,
    '',
    `${'tokens/s'.padEnd(28)}    median          middle half    limit`,
    ...speed.map(
      (row) =>
        `${row.name.padEnd(28)}  ${String(row.median).padStart(8)}  ${`${row.quarter}-${row.threeQuarters}`.padStart(19)}  ${String(row.limit || '-').padStart(7)}`,
    ),
    '',
    `${'10 MB in colour'.padEnd(28)}  heap grew by, MB  seconds  limit`,
    ...memory.map(
      (row) =>
        `${row.name.padEnd(28)}  ${String(row.grown).padStart(16)}  ${String(row.seconds).padStart(7)}  ${String(row.limit).padStart(5)}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
