// The command line in this process, over a backend that stays open, for tests that run it thousands of times. Standard input comes in chunks, and
// the two outputs are collected; everything else is as in the real program.
import { Writable } from 'node:stream';
import type { CliHost } from '../../src/cli/cli-host.ts';
import { runCommandLine } from '../../src/cli/program.ts';
import { createOutput, type Output } from '../../src/cli/terminal/output.ts';
import type { Backend } from '../../src/service/backend.ts';
import { hostInProcess } from './host-in-process.ts';

export interface ProgramOptions {
  /** For its configuration and data. */
  readonly directory: string;
  readonly backend: Backend;
  readonly apiKey: string;
}

export interface InProcessOutcome {
  readonly status: number;
  readonly out: string;
  /** The parts of `out` as they were written. */
  readonly writes: readonly string[];
  readonly err: string;
}

export class ProgramInProcess {
  readonly #options: ProgramOptions;
  #requests = 0;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  async run(argv: readonly string[], stdin: readonly Uint8Array[]): Promise<InProcessOutcome> {
    const written = { stdout: [] as string[], stderr: [] as string[] };
    const { signal } = new AbortController();
    const outputOf = (name: 'stdout' | 'stderr'): Output => {
      const stream = new Writable({
        write(bytes: Buffer, _encoding, done) {
          written[name].push(bytes.toString());
          done();
        },
      });
      return createOutput(stream, {
        role: name === 'stdout' ? 'data' : 'talk',
        env: {},
        noColor: true,
        signal,
      });
    };
    const outputs = { stdout: outputOf('stdout'), stderr: outputOf('stderr') };
    const status = await runCommandLine(argv, this.#host(stdin, outputs, signal));
    for (const output of Object.values(outputs)) await output.finish();
    return { status, out: written.stdout.join(''), writes: written.stdout, err: written.stderr.join('') };
  }

  #host(
    stdin: readonly Uint8Array[],
    outputs: Readonly<Record<'stdout' | 'stderr', Output>>,
    signal: AbortSignal,
  ): CliHost {
    const { directory, backend, apiKey } = this.#options;
    // The caller opens and closes it.
    const openBackend: Backend = { ...backend, close: async () => {} };
    return hostInProcess({
      directory,
      outputs,
      stdin,
      signal,
      newRequestId: () => `req_${++this.#requests}`,
      openBackend: async () => ({ backend: openBackend, apiKey }),
    });
  }
}
