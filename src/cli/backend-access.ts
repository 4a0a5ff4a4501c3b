// The target and the backend of a command. They are chosen and opened at the first use, and shared by the whole command.
import type { Target } from '../config/settings.ts';
import type { OpenedBackend } from '../service/backend-opening.ts';

export interface BackendSource {
  /** Throws if options, variables and profiles select no usable target. */
  readonly chooseTarget: () => Target;
  /** `beginsStore` is as in `BackendOptions`. */
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

  /** Replaces the target. Call it before anything is opened. */
  useTarget(target: Target): void {
    this.#target = target;
  }

  /** Opens the backend at the first call. `beginsStore` has an effect only then. */
  open(beginsStore: boolean): Promise<OpenedBackend> {
    this.#opened ??= this.#source.open(this.target, beginsStore);
    return this.#opened;
  }

  /** Closes the backend. A later call opens it again and reads the modes again. */
  async close(): Promise<void> {
    // The caller of a failed `open` has already reported the failure.
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.backend.close();
  }
}
