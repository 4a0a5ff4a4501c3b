// The target and the backend of a command. They are chosen and opened at the first use, and shared by the whole command.
import type { Target } from '../config/settings.ts';
import type { OpenedBackend } from '../service/backend-opening.ts';
import { beforeAbort } from '../system/before-abort.ts';

export interface BackendSource {
  /** Throws if options, variables and profiles select no usable target. */
  readonly chooseTarget: () => Target;
  /** `beginsStore` is as in `BackendOptions`. */
  readonly open: (target: Target, beginsStore: boolean) => Promise<OpenedBackend>;
}

/** How long (ms) closing waits for a backend that is still being opened. Its database may give no answer. */
const openingMs = 1000;

export class BackendAccess {
  readonly #source: BackendSource;
  #target: Target | undefined;
  #opened: Promise<OpenedBackend> | undefined;
  #isOpen = false;

  constructor(source: BackendSource) {
    this.#source = source;
  }

  get target(): Target {
    this.#target ??= this.#source.chooseTarget();
    return this.#target;
  }

  /** Replaces the target. Call it before anything is opened. */
  useTarget(target: Target): void {
    this.#target = target;
  }

  /**
   * Opens the backend at the first call. `beginsStore` has an effect only then. The signal ends the wait of this call; null for a call that
   * waits to the end. Later calls get the same backend.
   */
  open(beginsStore: boolean, signal: AbortSignal | null): Promise<OpenedBackend> {
    if (this.#opened === undefined) {
      const opening = this.#source.open(this.target, beginsStore).then((opened) => {
        this.#isOpen ||= this.#opened === opening;
        return opened;
      });
      this.#opened = opening;
    }
    return this.#isOpen || signal === null ? this.#opened : beforeAbort(this.#opened, signal);
  }

  /** Closes the backend. A later call opens it again and reads the modes again. */
  async close(): Promise<void> {
    // The caller of a failed `open` has already reported the failure.
    const opened = this.#opened?.catch(() => undefined);
    const isOpen = this.#isOpen;
    this.#opened = undefined;
    this.#isOpen = false;
    const closed = opened?.then((one) => one?.backend.close());
    if (isOpen || closed === undefined) return closed;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, openingMs);
    });
    await Promise.race([closed, late]).finally(() => clearTimeout(timer));
  }
}
