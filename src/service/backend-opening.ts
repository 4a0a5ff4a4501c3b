// How a backend is opened, wherever it is, and what comes of that: agreed between who asks for one and who puts it together.
import type { Backend } from './backend.ts';
import type { Limits } from './limits.ts';

export interface BackendOptions {
  /** Seconds that an engine or a server may be silent; null for the usual. */
  readonly timeout: number | null;
  /** A file of certificates to trust besides the usual ones. */
  readonly authorityFile: string | null;
  /** Rejects where there is no store or no key yet, rather than make them. */
  readonly onlyExisting: boolean;
  /** A new store is made also where a profile knows another in that directory, which is not there. */
  readonly beginsStore: boolean;
  /** The modes are at each call those that are set up then, also elsewhere; else those that are set up now. */
  readonly followsModes: boolean;
  /** Tells the user what was done on first use, and what is not safe as it stands. */
  readonly say: (line: string) => Promise<void>;
  /** Told each request to a server; null to tell nobody. */
  readonly trace: ((line: string) => Promise<void>) | null;
}

/** The options that concern the servers of models. */
export type EngineOptions = Pick<BackendOptions, 'timeout' | 'authorityFile' | 'trace'>;

/** A backend, and the key to call it with. */
export interface OpenedBackend {
  readonly backend: Backend;
  readonly apiKey: string;
}

/** What the embedded service is opened with for a server. */
export interface ServeOptions extends Pick<BackendOptions, 'timeout' | 'authorityFile' | 'say'> {
  /** A file of modes in place of the user's own; null for those. */
  readonly modesFile: string | null;
}

/** The embedded service as a server needs it, without a key of its own. */
export interface ServedBackend {
  readonly backend: Backend;
  readonly limits: Limits;
  /** The mode that is used now when none is named. */
  readonly defaultMode: () => string;
  /** Rejects while the store cannot be read. */
  readonly ready: () => Promise<void>;
  /** To be called with each request that arrives: requests that arrive together share one look at the store. */
  readonly requestArrived: () => void;
  /** Reads the modes again. When that fails, those that there were stay. */
  readonly reloadModes: () => Promise<void>;
}
