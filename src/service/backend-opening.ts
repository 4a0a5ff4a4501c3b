// How a backend is opened, and the opened backend. The command line asks for one, and compose makes it.
import type { Backend } from './backend.ts';
import type { StoreMeasures } from './store-measures.ts';

/** How a backend is opened for a command. */
export interface BackendOptions {
  /** Seconds that an engine or a server may be silent; null for the default. */
  readonly timeout: number | null;
  /** The path of a file of certificates (PEM) to trust besides those that Node trusts; null for none. */
  readonly authorityFile: string | null;
  /** True: opening rejects with `CONFIG` if there is no store or no key yet. False: it creates them. */
  readonly onlyExisting: boolean;
  /** True: a new store is created even if a profile knows an earlier store in that directory, which is missing now. */
  readonly beginsStore: boolean;
  /**
   * True: each call uses the modes that are set up at its time, by this process or another. False: all calls use the modes that are set up
   * now.
   */
  readonly followsModes: boolean;
  /** True: sessions are kept in memory until the backend is closed, and no text of them is stored. Only the embedded service can do so. */
  readonly keepsNoText?: boolean;
  /** Shows the user a line: what the first use has made, which settings are unsafe, or why an operation takes long. */
  readonly say: (line: string) => Promise<void>;
  /** Called with each request as a `curl` command; a remote backend then also reports its duration. Null for no trace. */
  readonly trace: ((line: string) => Promise<void>) | null;
}

/** The options that concern the servers of models. */
export type EngineOptions = Pick<BackendOptions, 'timeout' | 'authorityFile' | 'trace'>;

/** A backend, and the key to call it with. */
export interface OpenedBackend {
  readonly backend: Backend;
  readonly apiKey: string;
}

/** How the embedded service is opened for a server. */
export interface ServeOptions extends Pick<BackendOptions, 'timeout' | 'authorityFile' | 'say'> {
  /** The path of a file of modes that replaces the modes of the user or of the store; null to use those. */
  readonly modesFile: string | null;
  /** True: a store with an older schema is refused. False: it is migrated. */
  readonly refusesOlder: boolean;
}

/** The embedded service for a server, without a key of its own. */
export interface ServedBackend {
  readonly backend: Backend;
  /** The mode that is used now when a request names none. */
  readonly defaultMode: () => string;
  /** Resolves when the store can be written, and rejects while it cannot. */
  readonly ready: () => Promise<void>;
  /** Called for each request that arrives, so that requests of one moment can share one state of the store. */
  readonly shareReads: () => void;
  /** The number of live servers that share the store; null for a store of one machine. */
  readonly servers: (() => number) | null;
  /** Calls the listener when the modes of the store have changed; null if the modes are not those of the store. */
  readonly followModes: ((listener: () => void) => void) | null;
  readonly measures: StoreMeasures;
  /** Reads the modes again. When reading fails, the old modes stay in use. */
  readonly reloadModes: () => Promise<void>;
}
