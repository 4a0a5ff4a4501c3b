// What a server grants to those who call it: sizes, times and rates, each a setting. The limits of values (titles, messages,
// pages) are the service's own.
import { bodyBytes } from '../service/limits.ts';

export interface ServerLimits {
  readonly bodyBytes: number;
  /** Large bodies that are held at a time, of one key and of all together; more of them wait to be read. At least `bodyBytes`. */
  readonly largeBodyBytesPerKey: number;
  readonly largeBodyBytes: number;
  /** Of the request line and all headers together. */
  readonly headerBytes: number;
  /** Of one key; as many at once after a pause of a second. */
  readonly requestsPerSecond: number;
  /** Replies that one key may have streaming at a time. */
  readonly streamsPerKey: number;
  /** How long the headers, and the whole request, may take to arrive. Node heeds the second only from the first up. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often those two are looked at. */
  readonly checkMs: number;
  /** How long an answer may lie there with no byte of it taken. Longer than `heartbeatMs`, which keeps idle streams busy. */
  readonly stalledMs: number;
  /** How often a stream without news gets a comment line. */
  readonly heartbeatMs: number;
  /** How often the keys of running replies are looked at: a reply whose key was revoked stops then. */
  readonly keyCheckMs: number;
  /** What running replies get to end by themselves when the server stops. */
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
  graceMs: 10_000,
};
