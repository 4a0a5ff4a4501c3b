// A monotonic clock: it never goes back, even if the time of day is changed.

/** Milliseconds since an arbitrary moment. `performance.now` is not used, because Node takes 2 ms to load `performance`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
