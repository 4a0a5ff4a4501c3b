// A place whose commands run in this process, with all that the program has but a process of its own: for facts about words, results
// and statuses. `shell`, `terminal`, `start`, `spawn` and `binary` run the real program, which signals, exits and memory need.
import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';
import { createOutput, type Output } from '../../src/cli/terminal/output.ts';
import { findModels, openHome } from '../../src/compose.ts';
import { hostInProcess } from './host-in-process.ts';
import { type Outcome, Place, type RunOptions } from './parley.ts';
import { sinceBoot } from './store-options.ts';

export class PlaceInProcess extends Place {
  /** With what only a process can be given (`cwd`, `stdout`), it is one. */
  override async parley(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    if (options.cwd !== undefined || options.stdout !== undefined) return super.parley(args, options);
    return runInProcess(this, args, options);
  }

  /** Runs the real program to its end. */
  binary(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return super.parley(args, options);
  }
}

/** The directories are the usual ones of the place; the working directory is that of the tests. */
async function runInProcess(place: Place, args: readonly string[], options: RunOptions): Promise<Outcome> {
  const env = { ...place.env, ...options.env };
  const { signal } = new AbortController();
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const noColor = args.includes('--no-color');
  const outputOf = (name: 'stdout' | 'stderr'): Output => {
    const stream = new Writable({
      write(bytes: Buffer, _encoding, done) {
        written[name].push(bytes);
        done();
      },
    });
    return createOutput(stream, { role: name === 'stdout' ? 'data' : 'talk', env, noColor, signal });
  };
  const outputs = { stdout: outputOf('stdout'), stderr: outputOf('stderr') };
  let requests = 0;
  const host = hostInProcess({
    directory: place.path,
    outputs,
    stdin: piecesOf(options.stdin),
    signal,
    newRequestId: () => `req_${++requests}`,
    openHome: (target, home) => openHome(target, surroundings, home),
  });
  const surroundings = {
    profileFile: host.profileFile,
    dataDirectory: host.dataDirectory,
    processes: { pid: process.pid, isRunning: () => true },
    nodeApiVersion: Number(process.versions['napi']),
    env,
    now: host.now,
    sinceBoot,
    random: host.random,
  };
  const kind = options.stdin === undefined ? 'device' : 'socket';
  const status = await runCommandLine(args, {
    ...host,
    env,
    stdin: { ...host.stdin, kind: () => kind },
    findModels: (servers, search, stop) => findModels(servers, surroundings, search, stop),
  });
  for (const output of Object.values(outputs)) await output.finish();
  const [bytes, err] = [Buffer.concat(written.stdout), Buffer.concat(written.stderr)];
  return { status, signal: null, bytes, out: bytes.toString(), err: err.toString() };
}

function piecesOf(stdin: RunOptions['stdin'] = []): readonly Uint8Array[] {
  if (typeof stdin === 'string') return [Buffer.from(stdin)];
  return stdin instanceof Uint8Array ? [stdin] : stdin;
}
