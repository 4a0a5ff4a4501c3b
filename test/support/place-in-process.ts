// A place whose commands run in this process, with everything of the program but a process of its own, for tests of texts, results and statuses.
// `shell`, `terminal`, `start`, `spawn` and `binary` run the real program, for tests of signals, exits and memory.
import { randomUUID } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import type { CliHost } from '../../src/cli/cli-host.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { createOutput, type Output } from '../../src/cli/terminal/output.ts';
import type { Dependencies } from '../../src/compose/dependencies.ts';
import { composition } from '../../src/compose.ts';
import { configDirectory, dataDirectory, realDirectory } from '../../src/config/paths.ts';
import { ProfileFile } from '../../src/config/profile-file.ts';
import type { ModelProgram } from '../../src/service/model-server.ts';
import { hostInProcess } from './host-in-process.ts';
import { locks } from './locks.ts';
import { type Outcome, Place, type RunOptions } from './parley.ts';
import { sinceBoot } from './store-options.ts';

const directoryOfTests = process.cwd();

/** The working directory of this process is that of the place, once a command has run in it. */
export class PlaceInProcess extends Place {
  /** Where commands in this process look for model servers, instead of at the usual ports: this machine may have real ones there. */
  readonly modelAddresses: Partial<Record<ModelProgram, string>> = {
    'llama.cpp': 'http://127.0.0.1:9/v1',
    'LM Studio': 'http://127.0.0.1:9/v1',
  };

  /** True for commands that need the real program: `serve`, the threads of the build, another directory, an open file, variables of Node. */
  override async parley(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const { cwd, stdout, env = {} } = options;
    const isForNode = Object.keys(env).some((name) => name.startsWith('NODE_'));
    const isBuilt = args[0] === 'serve' || args.some((word) => /^--(jq|schema)(=|$)/.test(word));
    if (isBuilt || cwd !== undefined || stdout !== undefined || isForNode) {
      return this.binary(args, options);
    }
    process.chdir(this.path);
    return runInProcess(args, { ...this.env, ...env }, options.stdin, this.modelAddresses);
  }

  /** Runs the real program to its end. */
  binary(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return super.parley(args, options);
  }

  override remove(): void {
    process.chdir(directoryOfTests);
    super.remove();
  }
}

async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  stdin: RunOptions['stdin'],
  modelAddresses: Readonly<Record<string, string>>,
): Promise<Outcome> {
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
  const { platform } = process;
  const machine = { env, platform, home: env['HOME'] ?? '', workingDirectory: process.cwd() };
  const host: CliHost = {
    ...hostInProcess({
      directory: machine.home,
      outputs,
      stdin: [],
      signal,
      newRequestId: () => `req_${randomUUID()}`,
      openBackend: (target, options) => composition(dependencies).openBackend(target, options),
    }),
    env,
    profileFile: new ProfileFile({ directory: configDirectory(machine), locks, platform }),
    dataDirectory: realDirectory(dataDirectory(machine)),
  };
  const dependencies: Omit<Dependencies, 'readAuthorities'> = {
    ...host,
    platform,
    versions: process.versions,
    endsProcess: false,
    sinceBoot,
  };
  const composed = composition(dependencies);
  const status = await runCommandLine(args, {
    ...host,
    stdin: {
      ...host.stdin,
      kind: () => (stdin === undefined ? 'device' : 'socket'),
      open: () => Readable.from(piecesOf(stdin), { objectMode: true }),
      openBytes: () => Readable.from(piecesOf(stdin), { objectMode: true }),
    },
    ...composed,
    findModels(servers, ...options) {
      const moved = servers.map((server) => {
        const base_url = modelAddresses[server.name];
        return base_url === undefined ? server : { ...server, base_url };
      });
      return composed.findModels(moved, ...options);
    },
  });
  for (const output of Object.values(outputs)) await output.finish();
  const [bytes, err] = [Buffer.concat(written.stdout), Buffer.concat(written.stderr)];
  return { status, signal: null, bytes, out: bytes.toString(), err: err.toString() };
}

function piecesOf(stdin: RunOptions['stdin'] = []): readonly Uint8Array[] {
  if (typeof stdin === 'string') return [Buffer.from(stdin)];
  return stdin instanceof Uint8Array ? [stdin] : stdin;
}
