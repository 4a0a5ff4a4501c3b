// A clock that only goes forward, whatever becomes of the time of day.

/** Milliseconds since some moment in the past. Not `performance.now`, because Node takes 2 ms to load `performance`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
