// Tells the user why a command does not go on: a store takes long to open or to store a reply, because another program holds it, or a database
// does not answer.

const soonMs = 2000;

/** Shows the user a line. */
export type Say = (line: string) => Promise<void>;

/** Waits for `work`, and shows the line after two seconds. `say` is null if there is no user to tell. */
export async function withSlowStoreNotice<T>(work: Promise<T>, line: string, say: Say | null): Promise<T> {
  const timer = setTimeout(() => {
    // The wait continues even if the line cannot be shown.
    say?.(line).catch(() => {});
  }, soonMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
