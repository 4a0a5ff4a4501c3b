// What the benchmarks share: a process run and timed in a place of its own, the floors of the machine, quantiles.
import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export function readOptions(defaultRounds) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: String(defaultRounds) },
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1.');
  return { rounds, json: values.json, check: values.check };
}

/**
 * The environment of what is measured: Parley's files below `home` alone. NODE_EXTRA_CA_CERTS adds 50 ms to every start of
 * node, and is left out for all.
 */
export function environment(home) {
  const { NODE_EXTRA_CA_CERTS, NODE_OPTIONS, ...rest } = process.env;
  const inherited = Object.entries(rest).filter(([name]) => !name.startsWith('PARLEY_'));
  return {
    ...Object.fromEntries(inherited),
    PARLEY_CONFIG_DIR: join(home, 'config'),
    PARLEY_DATA_DIR: join(home, 'data'),
  };
}

/** One process, its standard output in a pipe as in a script. One that fails, or prints another thing, ends the run. */
export function run(words, { env, expect, input }) {
  const start = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env,
    encoding: 'utf8',
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(input !== undefined && { input }),
  });
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0 || !expect(stdout)) {
    throw new Error(
      `node ${words.join(' ')}\nexit ${status}, standard output ${JSON.stringify(stdout)}\n${stderr}`,
    );
  }
  return { milliseconds, output: stdout };
}

/** `bare`: the milliseconds of each start of node that does nothing. */
export function machine(home, bare) {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    bareNodeMilliseconds: quantile(bare, 0.5),
    fdatasyncMilliseconds: fdatasyncFloor(home),
  };
}

export function describeMachine({ node, cpu, bareNodeMilliseconds, fdatasyncMilliseconds }, rounds) {
  return [
    `Node ${node}, ${cpu}`,
    `bare node ${bareNodeMilliseconds.toFixed(1)} ms, fdatasync ${fdatasyncMilliseconds.toFixed(2)} ms; ${rounds} rounds, NODE_EXTRA_CA_CERTS unset`,
    '',
  ];
}

/** What the disk asks for one durable write of a page. */
function fdatasyncFloor(home) {
  const file = openSync(join(home, 'floor'), 'w');
  const page = Buffer.alloc(4096, 1);
  const times = [];
  for (let index = 0; index < 50; index += 1) {
    writeSync(file, page);
    const start = process.hrtime.bigint();
    fdatasyncSync(file);
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  closeSync(file);
  return quantile(times, 0.5);
}

export function quantile(values, part) {
  const sorted = values.toSorted((left, right) => left - right);
  return Math.round(sorted[Math.floor((sorted.length - 1) * part)] * 1000) / 1000;
}
