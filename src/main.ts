// The process boundary: arguments, environment, streams and signals come in here, and the exit status goes out. Nothing else in
// the source touches `process`.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import type { CliHost } from './cli/cli-host.ts';
import { describeFailure } from './cli/error-report.ts';
import { Interruption, type StopSignal } from './cli/interruption.ts';
import type { Job } from './cli/job.ts';
import { runCommandLine } from './cli/program.ts';
import { releaseDeadTerminals } from './cli/terminal/dead-terminals.ts';
import { directStream } from './cli/terminal/direct-stream.ts';
import { fileIdentity } from './cli/terminal/file-identity.ts';
import { createOutput, type Output, type OutputStream } from './cli/terminal/output.ts';
import { stdinKind, stdinSize } from './cli/terminal/stdin.ts';
import { fileLocks, findModels, openBackend, openServedBackend } from './compose.ts';
import { configDirectory, dataDirectory, realDirectory } from './config/paths.ts';
import { ProfileFile } from './config/profile-file.ts';
import { ParleyError } from './service/errors.ts';
import type { ProcessTable } from './system/process-identity.ts';
import { terminalIdentity } from './system/terminal-identity.ts';

/** Who has a use for a signal; while nobody has, it stops the command. */
interface SignalListeners {
  readonly interrupt: Set<() => void>;
  readonly hangUp: Set<() => void>;
}

const patienceMs = 300;
const sameSignalMs = 100;
const notStoppedMs = 100;

export async function main(): Promise<void> {
  // Until it is known: work that stops without an end, and leaves Node nothing to wait for, has failed.
  process.exitCode = 1;
  process.on('exit', () => releaseDeadTerminals(isTerminal));
  const stop = new AbortController();
  const signalled = new AbortController();
  const signals: SignalListeners = { interrupt: new Set(), hangUp: new Set() };
  onSignals(signals, (signal) => {
    signalled.abort(new Interruption(signal));
    stop.abort(signalled.signal.reason);
  });
  const outputs = new Map<string, Output>();
  // Then all is written and closed: leaving spares Node the taking down of what goes with the process anyway.
  process.exit(await run(stop, signalled.signal, outputs, job(signals)));
}

async function run(
  stop: AbortController,
  stopSignal: AbortSignal,
  outputs: Map<string, Output>,
  job: Job,
): Promise<number> {
  let status = 0;
  try {
    status = await runCommandLine(process.argv.slice(2), cliHost(stop, stopSignal, outputs, job));
    const isWritten = await finish(outputs.values(), stop.signal);
    return isWritten || status !== 0 ? status : (stop.signal.reason as Interruption).exitStatus;
  } catch (error) {
    // What was told already is not told again.
    if (status !== 0) return status;
    const failure = describeFailure(error);
    process.stderr.write(failure.text);
    return failure.status;
  }
}

/** True once all is written; false when, after a stop, that takes longer than a reader that still reads can need. */
async function finish(outputs: Iterable<Output>, signal: AbortSignal): Promise<boolean> {
  const written = Promise.all(Array.from(outputs, (output) => output.finish())).then(() => true);
  const patience = new Promise<boolean>((resolve) => {
    const wait = () => setTimeout(resolve, patienceMs, false);
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait);
  });
  return Promise.race([written, patience]);
}

/**
 * The first signal stops the work, which keeps what there is of it; a second one ends the process at once. One that comes with
 * the first is the same: npx passes on the Ctrl-C that the terminal sends as well, and conf brings when-exit, which sends itself
 * every signal again. While somebody holds the interrupts, a SIGINT is theirs.
 */
function onSignals(signals: SignalListeners, stop: (signal: StopSignal) => void): void {
  let stoppedAt: number | null = null;
  let interruptedAt = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && signals.hangUp.size > 0) {
        for (const hangUp of [...signals.hangUp]) hangUp();
        return;
      }
      const now = performance.now();
      if (signal === 'SIGINT' && signals.interrupt.size > 0 && stoppedAt === null) {
        if (now - interruptedAt > sameSignalMs) for (const interrupt of [...signals.interrupt]) interrupt();
        interruptedAt = now;
        return;
      }
      if (stoppedAt === null) {
        stoppedAt = now;
        stop(signal);
      } else if (signal !== 'SIGHUP' && now - stoppedAt > sameSignalMs) {
        // Of a terminal that closes, the shell may tell once more; nobody is there who would be in a hurry.
        process.exit(new Interruption(signal).exitStatus);
      }
    });
  }
}

function job(signals: SignalListeners): Job {
  const held = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  };
  const on = (event: 'SIGCONT' | 'exit', listener: () => void) => {
    process.on(event, listener);
    return () => {
      process.off(event, listener);
    };
  };
  return {
    onInterrupt: held(signals.interrupt),
    onHangUp: held(signals.hangUp),
    onContinue: (listener) => on('SIGCONT', listener),
    atExit: (action) => on('exit', action),
    async suspend() {
      // Windows has no such signal. The group: who started it, as npx, waits for it, and the shell for both.
      if (process.platform === 'win32') return;
      await new Promise<void>((resolve) => {
        const release = on('SIGCONT', () => goOn());
        const goOn = () => {
          release();
          resolve();
        };
        process.kill(0, 'SIGTSTP');
        // Where no shell waits, the system lets the process run on, and says nothing. These timers also keep the process alive: nothing
        // else does, while the keyboard is not read. Twice: after a stop, the signal that ends it comes between.
        setTimeout(() => setTimeout(goOn, notStoppedMs), notStoppedMs);
      });
    },
  };
}

function cliHost(
  stop: AbortController,
  stopSignal: AbortSignal,
  outputs: Map<string, Output>,
  job: Job,
): CliHost {
  const { env, platform, pid } = process;
  const machine = { env, platform, home: homeDirectory(), workingDirectory: workingDirectory() };
  const now = () => Date.now();
  const sinceBoot = () => Number(process.hrtime.bigint() / 1_000_000n);
  const random = () => Math.random();
  const processes: ProcessTable = { pid, isRunning };
  const nodeApiVersion = Number(process.versions['napi']);
  const locks = fileLocks(nodeApiVersion);
  const profileFile = new ProfileFile({ directory: placed(configDirectory(machine)), locks, platform });
  const data = realDirectory(placed(dataDirectory(machine)));
  const surroundings = {
    profileFile,
    dataDirectory: data,
    processes,
    nodeApiVersion,
    env,
    now,
    sinceBoot,
    random,
  };
  return {
    version: manifest.version,
    nodeVersion: process.versions.node,
    env,
    profileFile,
    dataDirectory: data,
    locks,
    job,
    commandLine,
    stdin: {
      // Making the stream costs time: only a question needs to know.
      isTerminal: () => process.stdin.isTTY === true,
      kind: stdinKind,
      size: stdinSize,
      open: () => process.stdin,
    },
    output(name, { noColor }) {
      let output = outputs.get(name);
      if (output === undefined) {
        output = createOutput(standardStream(name), {
          role: name === 'stdout' ? 'data' : 'talk',
          env,
          noColor,
          signal: stopSignal,
        });
        outputs.set(name, output);
        // Nobody reads the answer any more: stop working on it. A terminal may be gone before the signal says so.
        if (name === 'stdout') {
          const cause = output.isTerminal ? 'SIGHUP' : 'closed pipe';
          output.gone.addEventListener('abort', () => stop.abort(new Interruption(cause)));
        }
      }
      return output;
    },
    outputFile: () => fileIdentity(1),
    signal: stop.signal,
    stopSignal,
    now,
    random,
    newRequestId: requestIds(now, random),
    terminal: () => terminalIdentity({ platform, env, readText: (path) => readFileSync(path, 'utf8') }),
    openBackend: (target, options) => openBackend(target, surroundings, options),
    openServedBackend: (target, options) => openServedBackend(target, surroundings, options),
    findModels: (servers, options, stop) => findModels(servers, surroundings, options, stop),
  };
}

/** Of this process, then counted: a server makes thousands a second. */
function requestIds(now: () => number, random: () => number): () => string {
  let start = '';
  let count = 0;
  return () => {
    start ||= `req_${now().toString(36)}${random().toString(36).slice(2)}`;
    return `${start}_${count++}`;
  };
}

/** Asked as the process ends, where nothing can be awaited; the module is loaded already where there is a terminal. */
function isTerminal(descriptor: number): boolean {
  return process.getBuiltinModule('node:tty').isatty(descriptor);
}

function standardStream(name: 'stdout' | 'stderr'): OutputStream {
  const direct = name === 'stdout' ? directStream(1, process.platform, () => process.stdout) : null;
  return direct ?? process[name];
}

/** Linux alone has it. */
function commandLine(): Uint8Array | null {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return null;
  }
}

/** Empty where the system knows of none: a container may run a user whom it does not list. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    // conf's env-paths asks once more as it loads, and would fail there; what it finds is not used.
    process.env['HOME'] = '/';
    return '';
  }
}

/** Refuses a directory that hangs on a home that is none: it would be looked for wherever the command runs. */
function placed(directory: string): string {
  if (isAbsolute(directory)) return directory;
  throw new ParleyError('CONFIG', 'There is no home directory to keep the configuration and the data in.', {
    hint: 'Set HOME to an absolute path, or both PARLEY_CONFIG_DIR and PARLEY_DATA_DIR.',
  });
}

/** It may have been removed; then only what is relative to it cannot be found. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** True also for a process of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
