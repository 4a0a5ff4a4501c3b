// Runs the retention policies at intervals. If several servers share one store, the store lets only one of them run each policy. A policy that
// needs a confirmed count is not run; once per interval, the log says how to confirm it.
import { ParleyError } from '../service/errors.ts';
import type { Retention, RetentionEnd, RetentionPlan } from '../service/project-retention.ts';
import type { ServerLog } from './server-log.ts';
import type { ServerMetrics } from './server-metrics.ts';

export interface RetentionTimerOptions {
  /** The interval between runs of a policy. */
  readonly everyMs: number;
  readonly now: () => number;
  readonly logger: Pick<ServerLog['logger'], 'info' | 'warn'>;
  readonly metrics: Pick<ServerMetrics, 'countRetention'> | null;
  /** The command that confirms a run. */
  readonly confirmCommand: (plan: RetentionPlan) => string;
}

/** A run may be late by this many ms, or by a quarter of the interval if that is less. */
const maxLateMs = 60 * 60 * 1000;

export class RetentionTimer {
  readonly #retention: Retention;
  readonly #options: RetentionTimerOptions;
  readonly #stop = new AbortController();
  /** When the log last reported an unconfirmed policy, by project. */
  readonly #reportedAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void>;

  /** The first check of the policies starts at once. */
  constructor(retention: Retention, options: RetentionTimerOptions) {
    this.#retention = retention;
    this.#options = options;
    this.#running = this.#runAll();
    this.#schedule();
  }

  /** A running policy stops after its current step. The next run continues it. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  #schedule(): void {
    const waitMs = Math.min(this.#options.everyMs / 4, maxLateMs);
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
        if (signal.aborted || this.#wasReported(project_id)) continue;
        const request = { project_id, confirmed: null, every_ms: everyMs, signal };
        this.#report(await this.#retention.run(request));
      }
    } catch (error) {
      const reason = error instanceof ParleyError ? error.message : String(error);
      logger.warn({ reason }, 'retention failed and will be retried');
    }
  }

  #wasReported(projectId: string): boolean {
    const reportedAt = this.#reportedAt.get(projectId);
    const now = this.#options.now();
    return reportedAt !== undefined && now >= reportedAt && now - reportedAt < this.#options.everyMs;
  }

  #report(end: RetentionEnd): void {
    const { logger, metrics, now, confirmCommand } = this.#options;
    if (end.kind === 'ran') {
      const { project_id, batch, expired, erased, finished } = end.report;
      metrics?.countRetention({ expired, erased }, now());
      logger.info({ project_id, batch, expired, erased, finished }, 'retention ran');
    } else if (end.kind === 'unconfirmed' && end.plan.sessions > 0) {
      const { project_id, expire, erase } = end.plan;
      this.#reportedAt.set(project_id, now());
      logger.warn(
        { project_id, expire, erase, reason: end.reason, confirm: confirmCommand(end.plan) },
        'retention needs a confirmation; nothing was changed',
      );
    }
  }
}
