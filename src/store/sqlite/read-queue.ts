// Which long read runs next, and which makes room for it. Of one project one search and one filter run at a time. Whoever has read least
// lately comes first, so that reads without an end of some projects keep no other waiting.
import { ParleyError } from '../../service/errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { ReadUsage } from './read-usage.ts';

export interface ReadLimits {
  /** A read that has run so long is slow: it gets the least of the processors. */
  readonly slowMs: number;
  /** So many run that are not slow; the next waits until one has ended, or is slow. */
  readonly quick: number;
  /** With the slow ones. Where so many run, a slow one is ended for whoever has read far less lately. */
  readonly mostRunning: number;
  readonly longestSearchMs: number;
}

export interface QueuedRead {
  readonly order: { readonly kind: string; readonly projectId: string };
  /** When its process was ready for it. */
  since: number | null;
  isSlow: boolean;
  /** It was ended; its process may not be gone yet. */
  isGivenUp: boolean;
  /** The read rejects at once, and its process is ended. */
  readonly giveUp: (error: unknown) => void;
}

export class ReadQueue<Read extends QueuedRead> {
  readonly #limits: ReadLimits;
  readonly #usage = new ReadUsage();
  #waiting: Read[] = [];
  #running: Read[] = [];

  constructor(limits: ReadLimits) {
    this.#limits = limits;
  }

  /** Those that wait, and those that run. */
  get all(): readonly Read[] {
    return [...this.#waiting, ...this.#running];
  }

  add(read: Read): void {
    this.#waiting.push(read);
  }

  /** A read that is not wanted any more. */
  takeBack(read: Read): void {
    read.isGivenUp = true;
    this.#waiting = this.#waiting.filter((other) => other !== read);
  }

  /** After a read whose process is free, or gone. */
  end(read: Read): void {
    const now = monotonicMs();
    this.#running = this.#running.filter((other) => other !== read);
    this.#usage.add(read.order.projectId, now - (read.since ?? now), now);
  }

  /**
   * The next to run, which runs from here on. `busy`: one waits that cannot run now. To be asked again when a read ends or becomes slow,
   * and from time to time.
   */
  start(): Read | 'busy' | null {
    const next = this.#next();
    if (next === null) return null;
    if (!this.#hasRoom(next)) return 'busy';
    this.#waiting = this.#waiting.filter((read) => read !== next);
    this.#running.push(next);
    return next;
  }

  /** Of the reads beside which none of their project and kind runs: the first of the project that has read least lately. */
  #next(): Read | null {
    const running = this.#wanted();
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
    const { slowMs, quick, mostRunning } = this.#limits;
    const running = this.#wanted();
    const slow = running.filter(({ isSlow }) => isSlow);
    if (running.length - slow.length >= quick) return false;
    // A process that was ended needs a processor for that, too, and may get one late.
    if (this.#running.length >= mostRunning + quick) return false;
    if (running.length < mostRunning) return true;
    const [most] = slow.sort((one, other) => this.#used(other) - this.#used(one));
    // Far less: otherwise two projects would end each other's reads in turn, and neither would come to an end.
    if (most === undefined || this.#used(most) < 2 * this.#used(next) + slowMs) return false;
    most.giveUp(crowded());
    return true;
  }

  #wanted(): readonly Read[] {
    return this.#running.filter(({ isGivenUp }) => !isGivenUp);
  }

  /** How long its project has read lately, in milliseconds. */
  #used({ order: { projectId } }: Read): number {
    const now = monotonicMs();
    return this.#running
      .filter(({ order }) => order.projectId === projectId)
      .reduce((sum, { since }) => sum + now - (since ?? now), this.#usage.of(projectId, now));
  }
}

function crowded(): ParleyError {
  const message = 'Others wait to search, and of all that runs this project has searched longest.';
  return new ParleyError('UNAVAILABLE', message, {
    hint: 'Try again in a moment, with longer or rarer words. The beginning of many words costs most.',
    retryAfter: 5,
  });
}
