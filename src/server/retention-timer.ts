// Runs the policies of retention from time to time. Of several servers over one store, the store lets one run each policy. A policy that needs a
// confirmed count is not run: the log says how to confirm it, once an interval.
import { ParleyError } from '../service/errors.ts';
import type { Retention, RetentionEnd, RetentionPlan } from '../service/project-retention.ts';

export interface RetentionTimerOptions {
  /** The interval of the runs of a policy. */
  readonly everyMs: number;
  readonly now: () => number;
  readonly logger: {
    info(fields: object, text: string): void;
    warn(fields: object, text: string): void;
  };
  readonly metrics: {
    retained(counts: { readonly expired: number; readonly erased: number }, now: number): void;
  } | null;
  /** The command that confirms a run. */
  readonly howToConfirm: (plan: RetentionPlan) => string;
}

/** A run may be late by this time (ms), or by a quarter of a shorter interval. */
const mostLateMs = 60 * 60 * 1000;

export class RetentionTimer {
  readonly #retention: Retention;
  readonly #options: RetentionTimerOptions;
  readonly #stop = new AbortController();
  /** When the log last told of a policy without a confirmation, by the project. */
  readonly #told = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void>;

  /** The first look at the policies is at once. */
  constructor(retention: Retention, options: RetentionTimerOptions) {
    this.#retention = retention;
    this.#options = options;
    this.#running = this.#runAll();
    this.#schedule();
  }

  /** A run that is under way ends with its next step, and is continued by the next run. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  #schedule(): void {
    const waitMs = Math.min(this.#options.everyMs / 4, mostLateMs);
    this.#timer = setTimeout(() => {
      this.#running = this.#running.then(() => this.#runAll());
      void this.#running.then(() => {
        if (!this.#stop.signal.aborted) this.#schedule();
      });
    }, waitMs);
    this.#timer.unref();
  }

  async #runAll(): Promise<void> {
    const { everyMs, logger } = this.#options;
    const { signal } = this.#stop;
    try {
      for (const { project_id } of await this.#retention.policies()) {
        if (signal.aborted || this.#wasTold(project_id)) continue;
        const request = { project_id, confirmed: null, every_ms: everyMs, signal };
        this.#tell(await this.#retention.run(request));
      }
    } catch (error) {
      const reason = error instanceof ParleyError ? error.message : String(error);
      logger.warn({ reason }, 'retention failed; it is tried again');
    }
  }

  #wasTold(projectId: string): boolean {
    const told = this.#told.get(projectId);
    const now = this.#options.now();
    return told !== undefined && now >= told && now - told < this.#options.everyMs;
  }

  #tell(end: RetentionEnd): void {
    const { logger, metrics, now, howToConfirm } = this.#options;
    if (end.kind === 'ran') {
      const { project_id, batch, expired, erased, finished } = end.report;
      metrics?.retained({ expired, erased }, now());
      logger.info({ project_id, batch, expired, erased, finished }, 'retention ran');
    } else if (end.kind === 'unconfirmed' && end.plan.sessions > 0) {
      const { project_id, expire, erase } = end.plan;
      this.#told.set(project_id, now());
      logger.warn(
        { project_id, expire, erase, reason: end.reason, confirm: howToConfirm(end.plan) },
        'retention waits for a confirmation, and changes nothing',
      );
    }
  }
}
