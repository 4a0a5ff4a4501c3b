// The time in the names of batches.

/** Formats a time (ms) as the start of a batch's name: `20260131-140500`. */
export function batchTime(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replace(/\..*|[-:]/g, '')
    .replace('T', '-');
}
