// The facts and functions of the environment that a backend needs.
import type { ProfileFile } from '../config/profile-file.ts';
import type { RuntimeVersions } from '../store/sqlite/driver-choice.ts';
import type { ProcessTable } from '../system/process-identity.ts';

export interface Dependencies {
  readonly profileFile: ProfileFile;
  /** The real path of the data directory. */
  readonly dataDirectory: string;
  readonly processes: ProcessTable;
  /** The value of `process.platform`. */
  readonly platform: string;
  /** `process.versions`. */
  readonly versions: RuntimeVersions;
  /** True if the process ends with the command. */
  readonly endsProcess: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Milliseconds since this machine started. All of its processes read the same value, and setting the time of day does not change it. */
  readonly sinceBoot: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /**
   * The certificates (PEM) of the authorities in a file and of those that Node trusts; null for no file, which means Node's default. Rejects
   * with `CONFIG` for a file that cannot be used.
   */
  readonly readAuthorities: (file: string | null) => Promise<readonly string[] | null>;
  /** Stops a start that waits, for example for a file that is a pipe. */
  readonly signal: AbortSignal;
  /** Fires for a signal to the process only. */
  readonly stopSignal: AbortSignal;
}
