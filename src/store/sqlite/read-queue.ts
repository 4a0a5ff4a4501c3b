// Chooses which long read runs next, and which slow read is ended for it. Each project runs one search and one filter at a time. The
// project that has read least lately comes first, so that endless reads of some projects do not delay the others.
import { ParleyError } from '../../service/errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { ReadUsage } from './read-usage.ts';

export interface ReadLimits {
  /** A read that runs for this time (ms) is slow. Its process then gets a lower priority. */
  readonly slowMs: number;
  /** The most reads that run and are not slow. The next read waits until one of them ends or becomes slow. */
  readonly maxQuick: number;
  /** The most reads that run, slow ones included. At this number a slow read is ended for a project that has read far less lately. */
  readonly maxRunning: number;
  /** A search that runs for this time (ms) is ended. */
  readonly longestSearchMs: number;
}

export interface QueuedRead {
  readonly order: { readonly kind: string; readonly projectId: string };
  /** When its process was ready for it, in the time of `monotonicMs`; null before that. */
  since: number | null;
  isSlow: boolean;
  /** True once the read was ended. Its process may still run. */
  isCancelled: boolean;
  /** The read rejects at once, and its process is ended. */
  readonly cancel: (error: unknown) => void;
}

export class ReadQueue<Read extends QueuedRead> {
  readonly #limits: ReadLimits;
  readonly #usage = new ReadUsage();
  #waiting: Read[] = [];
  #running: Read[] = [];

  constructor(limits: ReadLimits) {
    this.#limits = limits;
  }

  /** The waiting and the running reads. */
  get all(): readonly Read[] {
    return [...this.#waiting, ...this.#running];
  }

  add(read: Read): void {
    this.#waiting.push(read);
  }

  /** Removes a read that the caller no longer wants. If it runs, it no longer counts as running. */
  discard(read: Read): void {
    read.isCancelled = true;
    this.#waiting = this.#waiting.filter((other) => other !== read);
  }

  /** Call it when the process of a read is free or has ended. */
  end(read: Read): void {
    const now = monotonicMs();
    this.#running = this.#running.filter((other) => other !== read);
    this.#usage.add(read.order.projectId, now - (read.since ?? now), now);
  }

  /**
   * The read that runs next; it counts as running from this call on. `busy`: a read waits that cannot run now. Null: no read can start.
   * Call it again when a read ends or becomes slow, and from time to time.
   */
  start(): Read | 'busy' | null {
    const next = this.#next();
    if (next === null) return null;
    if (!this.#hasRoom(next)) return 'busy';
    this.#waiting = this.#waiting.filter((read) => read !== next);
    this.#running.push(next);
    return next;
  }

  /** The first read of the project that has read least lately, among the reads whose project runs no other read of the same kind. */
  #next(): Read | null {
    const running = this.#notCancelled();
    const isFree = ({ order: { kind, projectId } }: Read) =>
      !running.some(({ order }) => order.kind === kind && order.projectId === projectId);
    return this.#waiting
      .filter(isFree)
      .reduce<Read | null>(
        (best, read) => (best === null || this.#used(read) < this.#used(best) ? read : best),
        null,
      );
  }

  #hasRoom(next: Read): boolean {
    const { slowMs, maxQuick, maxRunning } = this.#limits;
    const running = this.#notCancelled();
    const slow = running.filter(({ isSlow }) => isSlow);
    if (running.length - slow.length >= maxQuick) return false;
    // The processes of ended reads count here, because they may take some time to end.
    if (this.#running.length >= maxRunning + maxQuick) return false;
    if (running.length < maxRunning) return true;
    const [heaviest] = slow.sort((one, other) => this.#used(other) - this.#used(one));
    // The difference must be large. With a small one, two projects would end each other's reads again and again, and no read would finish.
    if (heaviest === undefined || this.#used(heaviest) < 2 * this.#used(next) + slowMs) return false;
    heaviest.cancel(endedForOthers());
    return true;
  }

  #notCancelled(): readonly Read[] {
    return this.#running.filter(({ isCancelled }) => !isCancelled);
  }

  /** How long (ms) the project of a read has read lately. */
  #used({ order: { projectId } }: Read): number {
    const now = monotonicMs();
    return this.#running
      .filter(({ order }) => order.projectId === projectId)
      .reduce((sum, { since }) => sum + now - (since ?? now), this.#usage.of(projectId, now));
  }
}

function endedForOthers(): ParleyError {
  const message = 'Others wait to search, and of all that runs this project has searched longest.';
  return new ParleyError('UNAVAILABLE', message, {
    hint: 'Try again in a moment, with longer or rarer words. The beginning of many words costs most.',
    retryAfter: 5,
  });
}
