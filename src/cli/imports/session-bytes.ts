// What may be held of a file until its end: a file that holds one session is stored when all of it is read.
import { ParleyError } from '../../service/errors.ts';
import { importLimits } from './import-limits.ts';

export class SessionBytes {
  readonly #path: string;
  readonly #most: number;
  #bytes = 0;

  constructor(path: string, most: number = importLimits.sessionBytes) {
    this.#path = path;
    this.#most = most;
  }

  /** Throws at more than a session may have. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#most) return;
    throw new ParleyError(
      'PAYLOAD_TOO_LARGE',
      `${this.#path} has more than ${this.#most} bytes, the limit of a session.`,
      { hint: 'Nothing of this session was kept; the rest was read.' },
    );
  }
}
