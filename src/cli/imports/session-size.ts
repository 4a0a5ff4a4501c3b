// Limits the size of a file that contains one session, because it is held in memory until its end.
import { ParleyError } from '../../service/errors.ts';
import { importLimits } from './import-limits.ts';

export class SessionSize {
  readonly #path: string;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(path: string, maxBytes: number = importLimits.sessionBytes) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** Throws if the session exceeds the limit. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new ParleyError(
      'PAYLOAD_TOO_LARGE',
      `${this.#path} has more than ${this.#maxBytes} bytes, the limit of a session.`,
      { hint: 'This session was skipped; the rest was read.' },
    );
  }
}
