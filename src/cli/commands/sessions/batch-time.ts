// How the names of batches begin. A listing of batches needs this alone, and no code of journals.

/** A time (ms) as the names of batches begin. */
export function batchTime(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replace(/\..*|[-:]/g, '')
    .replace('T', '-');
}
