// What a backend is put together from, wherever it is.

import type { ProfileFile } from '../config/profile-file.ts';
import type { ProcessTable } from '../system/process-identity.ts';

export interface Surroundings {
  readonly profileFile: ProfileFile;
  /** Its real path. */
  readonly dataDirectory: string;
  readonly processes: ProcessTable;
  /** `process.versions.napi`. */
  readonly nodeApiVersion: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Milliseconds since this machine started: all of its processes read the same, and no setting of the time of day changes it. */
  readonly sinceBoot: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}
