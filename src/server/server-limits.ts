// The limits of the server for its clients: sizes, times and rates. The limits of values (titles, messages, pages) belong to the service.
import { bodyBytes } from '../service/limits.ts';

export interface ServerLimits {
  readonly bodyBytes: number;
  /**
   * Bytes of large bodies that are held at a time, for one key and for all keys together. A body beyond that waits to be read. At least
   * `bodyBytes`.
   */
  readonly largeBodyBytesPerKey: number;
  readonly largeBodyBytes: number;
  /** Bytes of the request line and all headers together. */
  readonly headerBytes: number;
  /** Requests of one key per second. After a pause of a second, as many may arrive at once. */
  readonly requestsPerSecond: number;
  /** Replies of one key that may stream at a time. */
  readonly streamsPerKey: number;
  /** How long the headers may take to arrive, and the whole request, in ms. Node ignores a `requestMs` below `headersMs`. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often Node checks those two times, in ms. */
  readonly checkMs: number;
  /**
   * How long a reader may take no byte of a response, in ms. Longer than `heartbeatMs`, so that an idle stream does not look stalled.
   */
  readonly stalledMs: number;
  /** How often a stream without events gets a comment line, in ms. */
  readonly heartbeatMs: number;
  /** How often the keys of running replies are checked, in ms. A reply whose key was revoked is then cut. */
  readonly keyCheckMs: number;
  /** How long a stopping server still accepts new work, in ms, so that a load balancer can notice that it is not ready. */
  readonly drainMs: number;
  /** How long running replies may continue after that, in ms. */
  readonly graceMs: number;
}

export const defaultServerLimits: ServerLimits = {
  bodyBytes,
  largeBodyBytesPerKey: 2 * bodyBytes,
  largeBodyBytes: 8 * bodyBytes,
  headerBytes: 16 * 1024,
  requestsPerSecond: 20_000,
  streamsPerKey: 2000,
  headersMs: 15_000,
  requestMs: 60_000,
  checkMs: 1000,
  stalledMs: 45_000,
  heartbeatMs: 15_000,
  keyCheckMs: 500,
  drainMs: 0,
  graceMs: 10_000,
};
