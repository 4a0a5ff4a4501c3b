// Shared by the benchmarks: timed processes with a temporary configuration, the floors of the machine, and the output of figures.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, fdatasyncSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { flag } from './script-options.js';

/** The options of each benchmark that prints a report. */
export const reportOptions = { json: flag, check: flag };

/**
 * The environment of the measured programs: Parley's files are below `home`. NODE_EXTRA_CA_CERTS, which adds 50 ms to every start of node, is
 * left out for all.
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

/**
 * Runs a process with its standard output in a pipe, as in a script. If it fails, or prints something unexpected, the benchmark ends. `input` is
 * passed in a socket, as Node does for its children; `stdin` is a descriptor.
 */
export function run(words, { env, expect, input, stdin }) {
  const start = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    env,
    encoding: 'utf8',
    stdio: [stdin ?? (input === undefined ? 'ignore' : 'pipe'), 'pipe', 'pipe'],
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

/** `bare`: the time of each start of bare node, in ms. */
export function machine(home, bare) {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    bareNodeMilliseconds: quantile(bare, 0.5),
    fdatasyncMilliseconds: fdatasyncFloor(home),
  };
}

/** A descriptor of a pipe that contains `text` and has no writer, as after `printf`. The pipe is created in `home`. */
export function filledPipe(home, text) {
  const path = join(home, 'pipe');
  rmSync(path, { force: true });
  spawnSync('mkfifo', [path]);
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  writeFileSync(path, text);
  return descriptor;
}

export function describeMachine({ node, cpu, bareNodeMilliseconds, fdatasyncMilliseconds }, rounds) {
  return [
    `Node ${node}, ${cpu}`,
    `bare node ${bareNodeMilliseconds.toFixed(1)} ms, fdatasync ${fdatasyncMilliseconds.toFixed(2)} ms; ${rounds} rounds, NODE_EXTRA_CA_CERTS unset`,
    '',
  ];
}

/** The time of one synced write of a page. */
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

/** The samples of one case: the figure that has a limit, and the plain value beside it. */
export function samples(name, unit, { min = null, max = null }) {
  const figures = [];
  const plain = [];
  return {
    add(figure, value) {
      figures.push(figure);
      plain.push(value);
    },
    row: () => ({
      name,
      median: quantile(figures, 0.5),
      quarter: quantile(figures, 0.25),
      threeQuarters: quantile(figures, 0.75),
      plain: quantile(plain, 0.5),
      unit,
      ...(min !== null && { min }),
      ...(max !== null && { max }),
    }),
  };
}

/** Prints the report, and on stderr the cases that exceed their limit. With `--check`, that is a failure. */
export function printReport(report, { json, check, describe }) {
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  const beyond = report.cases.filter(
    ({ median, min, max, limit }) => median < min || median > (max ?? limit ?? Number.POSITIVE_INFINITY),
  );
  for (const { name, median, min, max, limit } of beyond)
    process.stderr.write(`${name}: ${median} exceeds its limit of ${min ?? max ?? limit}.\n`);
  if (check && beyond.length > 0) process.exitCode = 1;
}

/** Formats cases that were measured as ratios as a table. */
export function describeRatios(report, rounds) {
  const lines = [
    ...describeMachine(report.machine, rounds),
    `${'case'.padEnd(26)}  ratio  middle half    ms  limit`,
  ];
  for (const row of report.cases) {
    const half = `${row.quarter.toFixed(2)}-${row.threeQuarters.toFixed(2)}`;
    lines.push(
      `${row.name.padEnd(26)}  ${row.median.toFixed(2).padStart(5)}  ${half.padStart(11)}  ${row.milliseconds.toFixed(0).padStart(4)}  ${row.limit?.toFixed(1) ?? '-'}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Formats cases of `samples` as a table with these column widths. */
export function describeSamples(report, rounds, { name, median, half, plainDigits }) {
  const lines = describeMachine(report.machine, rounds);
  const head = [
    'case'.padEnd(name),
    'median'.padStart(median),
    'middle half'.padStart(half),
    'plain'.padStart(11),
  ];
  lines.push(`${head.join('  ')}  limit`);
  for (const row of report.cases) {
    const cells = [
      row.name.padEnd(name),
      row.median.toFixed(2).padStart(median),
      `${row.quarter.toFixed(2)}-${row.threeQuarters.toFixed(2)}`.padStart(half),
      `${row.plain.toFixed(plainDigits(row.plain))} ${row.unit}`.padStart(11),
      row.min === undefined ? `<= ${row.max}` : `>= ${row.min}`,
    ];
    lines.push(cells.join('  '));
  }
  return `${lines.join('\n')}\n`;
}
