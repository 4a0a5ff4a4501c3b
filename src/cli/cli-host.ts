// The interface between the command line and the process boundary (main.ts).
import type { Readable } from 'node:stream';
import type { ModePlace } from '../config/mode-place.ts';
import type { NamedStore } from '../config/named-store.ts';
import type { ProfileFile } from '../config/profile-file.ts';
import type { Target } from '../config/settings.ts';
import type { CopyProgress, CopyReport, StoreMigration } from '../service/administration.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from '../service/backend-opening.ts';
import type { BackupFacts, RestoreReport } from '../service/backup-report.ts';
import type { ModeSettings } from '../service/mode-settings.ts';
import type { ContextSize, FoundModels, ModelServer } from '../service/model-server.ts';
import type { LoadLocks } from '../system/file-lock.ts';
import type { OpenDatabase } from '../system/open-database.ts';
import type { ProcessTable } from '../system/process-identity.ts';
import type { Job } from './job.ts';
import type { ByteSource } from './terminal/direct-stdin.ts';
import type { Output } from './terminal/output.ts';
import type { StdinKind } from './terminal/stdin.ts';

export interface StoreCopyRequest {
  readonly from: NamedStore;
  readonly to: NamedStore;
  /** Resumes a copy that was stopped. */
  readonly resume: boolean;
  /** The time limit of the command in seconds. Null for the default waits. */
  readonly timeout: number | null;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

export interface StoreBackupRequest {
  readonly target: Pick<Target, 'store' | 'storeName'>;
  readonly withKeys: boolean;
  readonly timeout: number | null;
  /** Writes the next part of the backup. */
  readonly write: (text: string) => Promise<void>;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

export interface BackupReading {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The name of the backup, for errors. */
  readonly place: string;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

export interface StoreRestoringRequest extends BackupReading {
  readonly target: Pick<Target, 'store' | 'storeName'>;
  /** True to replace a store that holds sessions. Only SQLite supports this. */
  readonly replaces: boolean;
  readonly timeout: number | null;
}

export interface StoreBackups {
  /** Writes a consistent backup of the store of a target. */
  backUp(request: StoreBackupRequest): Promise<BackupFacts>;
  /** Reads a backup to its end. Rejects with `STORE_DAMAGED` if it is incomplete or damaged. */
  verify(request: BackupReading): Promise<BackupFacts>;
  /** Creates the store of a target from a backup. */
  restore(request: StoreRestoringRequest): Promise<RestoreReport>;
}

export interface StandardInput {
  isTerminal(): boolean;
  kind(): StdinKind;
  /** The size in bytes; null if the end is unknown. */
  size(): number | null;
  /** Returns the stream without reading from it. */
  open(): Readable;
  /** The same bytes. Avoids the stream where possible. */
  openBytes(): ByteSource;
}

/** The facts and abilities of this process. */
export interface CliHost {
  readonly version: string;
  readonly nodeVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profileFile: ProfileFile;
  readonly dataDirectory: string;
  readonly locks: LoadLocks;
  readonly processes: ProcessTable;
  readonly job: Job;
  /** The command line of the process as bytes, with a NUL after each word; null if the system does not provide it. */
  commandLine(): Uint8Array | null;
  readonly stdin: StandardInput;
  output(name: 'stdout' | 'stderr', options: { readonly noColor: boolean }): Output;
  /** The width of a terminal, and 80 for everything else. Unlike `output`, it does not decide the colours of the stream. */
  columns(name: 'stdout' | 'stderr'): number;
  /** The identity of the file behind stdout; null if stdout is not a file. */
  outputFile(): string | null;
  /** Fires with an `Interruption` for a signal, or when the reader of stdout has closed it. */
  readonly signal: AbortSignal;
  /** Fires for a signal only. For work that must continue after the reader of stdout is gone. */
  readonly stopSignal: AbortSignal;
  now(): number;
  /** A random number from 0 to 1. */
  random(): number;
  newRequestId(): string;
  /** Identifies the terminal of this process; null without one. */
  terminal(): string | null;
  openBackend(target: Target, options: BackendOptions): Promise<OpenedBackend>;
  openServedBackend(
    target: Pick<Target, 'store' | 'storeName'>,
    options: ServeOptions,
  ): Promise<ServedBackend>;
  /** Opens the modes of the embedded service of a target, to read and change them. */
  openModes(target: Pick<Target, 'store'>): Promise<ModePlace>;
  /** Migrates the store of a target to the newest schema, or creates the store. `timeout`: see {@link StoreCopyRequest}. */
  migrateStore(target: Pick<Target, 'store' | 'storeName'>, timeout: number | null): Promise<StoreMigration>;
  /** Copies the rows of a store into a new store, and compares the two. */
  copyStores(request: StoreCopyRequest): Promise<CopyReport>;
  readonly backups: StoreBackups;
  /** Opens databases of other programs. */
  readonly openDatabase: OpenDatabase;
  /** Asks model servers which models they have. Contacts only these servers, and never rejects because of one. */
  findModels(
    servers: readonly ModelServer[],
    options: EngineOptions,
    signal: AbortSignal,
  ): Promise<readonly FoundModels[]>;
  /** Asks the server of a mode for the context size of its model. Null if the server does not report it. */
  findContext(mode: ModeSettings, options: EngineOptions, signal: AbortSignal): Promise<ContextSize | null>;
}
