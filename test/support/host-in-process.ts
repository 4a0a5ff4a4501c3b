// The host of the command line in this process: outputs and a backend of the test, a standard input in chunks, and everything else as in the real
// program.
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { CliHost } from '../../src/cli/cli-host.ts';
import type { Output } from '../../src/cli/terminal/output.ts';
import { ProfileFile } from '../../src/config/profile-file.ts';
import { locks } from './locks.ts';
import { processTable } from './process-table.ts';

export interface HostParts {
  /** For its configuration and data. */
  readonly directory: string;
  readonly outputs: Readonly<Record<'stdout' | 'stderr', Output>>;
  readonly stdin: readonly Uint8Array[];
  readonly signal: AbortSignal;
  readonly newRequestId: () => string;
  readonly openBackend: CliHost['openBackend'];
}

const nobodyHolds = () => () => {};

export function hostInProcess(parts: HostParts): CliHost {
  const { directory, outputs, stdin, signal, newRequestId, openBackend } = parts;
  const now = () => Date.now();
  return {
    version: '0.0.0',
    nodeVersion: process.versions.node,
    env: {},
    profileFile: new ProfileFile({
      directory: join(directory, 'config'),
      locks,
      platform: process.platform,
    }),
    dataDirectory: join(directory, 'data'),
    locks,
    processes: processTable,
    job: {
      onInterrupt: nobodyHolds,
      onHangUp: nobodyHolds,
      onContinue: nobodyHolds,
      atExit: nobodyHolds,
      suspend: () => Promise.resolve(),
    },
    commandLine: () => null,
    stdin: {
      isTerminal: () => false,
      kind: () => 'pipe',
      size: () => null,
      open: () => Readable.from(stdin, { objectMode: true }),
      openBytes: () => Readable.from(stdin, { objectMode: true }),
    },
    output: (name) => outputs[name],
    columns: (name) => outputs[name].columns(),
    outputFile: () => null,
    signal,
    stopSignal: signal,
    now,
    random: Math.random,
    newRequestId,
    terminal: () => null,
    openBackend,
    openServedBackend: () => Promise.reject(new Error('Nothing is served here.')),
    openModes: () => Promise.reject(new Error('No modes are set up here.')),
    migrateStore: () => Promise.reject(new Error('No store is migrated here.')),
    copyStores: () => Promise.reject(new Error('No store is copied here.')),
    backups: {
      backUp: () => Promise.reject(new Error('No store is backed up here.')),
      verify: () => Promise.reject(new Error('No backup is verified here.')),
      restore: () => Promise.reject(new Error('No backup is restored here.')),
    },
    openDatabase: () => Promise.reject(new Error('No other database is opened here.')),
    findModels: () => Promise.reject(new Error('No model server is asked here.')),
    findContext: () => Promise.reject(new Error('No model server is asked here.')),
  };
}
