// The process boundary: arguments, environment, streams and signals come in here, and the exit status goes out. Nothing else in the source
// touches `process`.
import { readFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import type { CliHost } from './cli/cli-host.ts';
import { describeFailure } from './cli/error-report.ts';
import { Interruption, type StopSignal } from './cli/interruption.ts';
import type { Job } from './cli/job.ts';
import { runCommandLine } from './cli/program.ts';
import { directStdin } from './cli/terminal/direct-stdin.ts';
import { directStream } from './cli/terminal/direct-stream.ts';
import { fileIdentity, isCharacterDevice, terminalDevice } from './cli/terminal/file-identity.ts';
import { createOutput, type Output, type OutputStream } from './cli/terminal/output.ts';
import { stdinKind, stdinSize } from './cli/terminal/stdin.ts';
import { releaseTerminals } from './cli/terminal/terminal-release.ts';
import { composition, fileLocks } from './compose.ts';
import { configDirectory, dataDirectory, realDirectory, requireAbsoluteDirectory } from './config/paths.ts';
import { ProfileFile } from './config/profile-file.ts';
import { systemErrorCode } from './system/file-errors.ts';
import { homeDirectory } from './system/home-directory.ts';
import { monotonicMs } from './system/monotonic-clock.ts';
import type { ProcessTable } from './system/process-identity.ts';
import { terminalIdentity } from './system/terminal-identity.ts';

/** The listeners for signals. A signal without a listener stops the command. */
interface SignalListeners {
  readonly interrupt: Set<() => void>;
  readonly hangUp: Set<() => void>;
}

/** The time (ms) that a slow reader has after a stop to read the rest of the output. */
const finishMs = 300;
/** A second signal within this time (ms) counts as the same one. */
const sameSignalMs = 100;
/** If the process is not suspended within this time (ms), it continues. */
const suspensionMs = 100;

export async function main(): Promise<void> {
  // The exit status until the result is known. It counts if the work hangs and leaves Node nothing to wait for.
  process.exitCode = 1;
  // The user's own files stay open to the user.
  process.umask(process.umask() & 0o077);
  process.on('exit', releaseTerminals);
  const stop = new AbortController();
  const signalled = new AbortController();
  const signals: SignalListeners = { interrupt: new Set(), hangUp: new Set() };
  onSignals(signals, (signal) => {
    signalled.abort(new Interruption(signal));
    stop.abort(signalled.signal.reason);
  });
  const outputs = new Map<string, Output>();
  // All output is written. An immediate exit saves the time in which Node would free memory.
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
    // The command has reported its failure already.
    if (status !== 0) return status;
    const failure = describeFailure(error);
    process.stderr.write(failure.text);
    return failure.status;
  }
}

/** Resolves to true when all output is written, and to false if the reader stops reading after a stop. */
async function finish(outputs: Iterable<Output>, signal: AbortSignal): Promise<boolean> {
  const written = Promise.all(Array.from(outputs, (output) => output.finish())).then(() => true);
  const expired = new Promise<boolean>((resolve) => {
    const startTimer = () => setTimeout(resolve, finishMs, false);
    if (signal.aborted) startTimer();
    else signal.addEventListener('abort', startTimer);
  });
  return Promise.race([written, expired]);
}

/**
 * The first signal stops the work; its partial results are kept. A second signal ends the process at once. A signal within 100 ms of the
 * first counts as the same one: npx repeats the Ctrl-C that the terminal also sends, and when-exit, a dependency of conf, sends every
 * signal to its own process again. While there are listeners for interrupts, SIGINT goes only to them.
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
      const now = monotonicMs();
      if (signal === 'SIGINT' && signals.interrupt.size > 0 && stoppedAt === null) {
        if (now - interruptedAt > sameSignalMs) for (const interrupt of [...signals.interrupt]) interrupt();
        interruptedAt = now;
        return;
      }
      if (stoppedAt === null) {
        stoppedAt = now;
        stop(signal);
      } else if (signal !== 'SIGHUP' && now - stoppedAt > sameSignalMs) {
        // A second SIGHUP does not end the process at once: the shell may report the closing of one terminal twice, and there is no user to wait for it.
        process.exit(new Interruption(signal).exitStatus);
      }
    });
  }
}

function job(signals: SignalListeners): Job {
  const addTo = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  };
  const onContinue = (listener: () => void) => {
    process.on('SIGCONT', listener);
    return () => {
      process.off('SIGCONT', listener);
    };
  };
  return {
    onInterrupt: addTo(signals.interrupt),
    onHangUp: addTo(signals.hangUp),
    onContinue,
    atExit(action) {
      // An action on a terminal must run before the terminal is released.
      process.prependListener('exit', action);
      return () => {
        process.off('exit', action);
      };
    },
    async suspend() {
      // Windows has no such signal. The signal goes to the process group, because the starting program (npx, for example) and the shell
      // wait for it.
      if (process.platform === 'win32') return;
      await new Promise<void>((resolve) => {
        const release = onContinue(() => resume());
        const resume = () => {
          release();
          resolve();
        };
        process.kill(0, 'SIGTSTP');
        // Without a waiting shell, the system does not suspend the process and reports nothing. These timers then continue the work. They
        // also keep the process alive, because nothing else does while the keyboard is not read. There are two timers, because SIGCONT
        // arrives between them.
        setTimeout(() => setTimeout(resume, suspensionMs), suspensionMs);
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
  const { env, platform, pid, versions } = process;
  const machine = { env, platform, home: homeDirectory(env, platform), workingDirectory: workingDirectory() };
  const now = () => Date.now();
  const sinceBoot = () => Math.floor(monotonicMs());
  const random = () => Math.random();
  const processes: ProcessTable = { pid, isRunning };
  const locks = fileLocks({ versions, env });
  const readText = (path: string) => readFileSync(path, 'utf8');
  const profileFile = new ProfileFile({
    directory: requireAbsoluteDirectory(configDirectory(machine)),
    locks,
    platform,
  });
  const data = realDirectory(requireAbsoluteDirectory(dataDirectory(machine)));
  const dependencies = {
    profileFile,
    dataDirectory: data,
    processes,
    platform,
    versions,
    endsProcess: true,
    env,
    now,
    sinceBoot,
    random,
    signal: stop.signal,
    stopSignal,
  };
  return {
    version: manifest.version,
    nodeVersion: process.versions.node,
    env,
    profileFile,
    dataDirectory: data,
    locks,
    processes,
    job,
    commandLine,
    stdin: {
      // A function, because only a question needs this, and creating the stream takes time.
      isTerminal: () => process.stdin.isTTY === true,
      kind: stdinKind,
      size: stdinSize,
      open: () => process.stdin,
      openBytes: () => directStdin(0, process.platform, () => process.stdin),
    },
    output(name, { noColor }) {
      const output = outputs.get(name) ?? openOutput(name, { env, noColor, stop, stopSignal });
      outputs.set(name, output);
      return output;
    },
    columns: columnsOf,
    outputFile: () => fileIdentity(1),
    signal: stop.signal,
    stopSignal,
    now,
    random,
    newRequestId: requestIds(now, random),
    terminal: () => terminalIdentity({ platform, env, readText, device: terminalDevice }),
    ...composition(dependencies),
  };
}

interface OutputStart {
  readonly env: NodeJS.ProcessEnv;
  readonly noColor: boolean;
  readonly stop: AbortController;
  readonly stopSignal: AbortSignal;
}

function openOutput(name: 'stdout' | 'stderr', { env, noColor, stop, stopSignal }: OutputStart): Output {
  const role = name === 'stdout' ? 'data' : 'talk';
  const output = createOutput(standardStream(name), { role, env, noColor, signal: stopSignal });
  // When nobody reads the output any more, the work for it stops. A terminal may close before its signal arrives.
  if (name === 'stdout') {
    const cause = output.isTerminal ? 'SIGHUP' : 'closed pipe';
    output.gone.addEventListener('abort', () => stop.abort(new Interruption(cause)));
  }
  return output;
}

/** Request ids: a random prefix per process and a counter, because a server needs thousands of ids per second. */
function requestIds(now: () => number, random: () => number): () => string {
  let start = '';
  let count = 0;
  return () => {
    start ||= `req_${now().toString(36)}${random().toString(36).slice(2)}`;
    return `${start}_${count++}`;
  };
}

const descriptors = { stdout: 1, stderr: 2 } as const;

function standardStream(name: 'stdout' | 'stderr'): OutputStream {
  return directStream(descriptors[name], process.platform, () => process[name]) ?? process[name];
}

/** The width of a terminal, and 80 for everything else, because creating the stream of a pipe takes time. */
function columnsOf(name: 'stdout' | 'stderr'): number {
  return isCharacterDevice(descriptors[name]) ? process[name].columns || 80 : 80;
}

/** The command line of this process. Null without `/proc`, which only Linux has. */
function commandLine(): Uint8Array | null {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return null;
  }
}

/** The working directory may have been removed. Only relative paths need it. */
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
    return systemErrorCode(error) === 'EPERM';
  }
}
