// Where a command talks to, and the backend there: chosen and opened when it is first asked for, once for all that is done with it.
import type { Target } from '../config/settings.ts';
import type { OpenedBackend } from '../service/backend-opening.ts';

export interface BackendSource {
  /** Throws where flags, variables and profiles select nothing that may be talked to. */
  readonly chooseTarget: () => Target;
  /** `beginsStore` as in `BackendOptions`. */
  readonly open: (target: Target, beginsStore: boolean) => Promise<OpenedBackend>;
}

export class BackendAccess {
  readonly #source: BackendSource;
  #target: Target | undefined;
  #opened: Promise<OpenedBackend> | undefined;

  constructor(source: BackendSource) {
    this.#source = source;
  }

  get target(): Target {
    this.#target ??= this.#source.chooseTarget();
    return this.#target;
  }

  /** Only before anything was opened. */
  talkTo(target: Target): void {
    this.#target = target;
  }

  /** `beginsStore` counts where this is the first to open the backend. */
  open(beginsStore: boolean): Promise<OpenedBackend> {
    this.#opened ??= this.#source.open(this.target, beginsStore);
    return this.#opened;
  }

  /** Closes what was opened. A later call opens it anew, with the modes that are set up then. */
  async close(): Promise<void> {
    // A backend that could not be opened was reported by whoever asked for it.
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.backend.close();
  }
}
