// Tells the user why a chat does not end: storing the reply takes long, because another program holds the store, or a database does not answer.

const soonMs = 2000;

/** Shows the user a line. */
export type Say = (line: string) => Promise<void>;

/** Waits for `keeping`. `say` is null if there is no user to tell. */
export async function withSlowStoreNotice<T>(keeping: Promise<T>, say: Say | null): Promise<T> {
  const timer = setTimeout(() => {
    // The wait continues even if the line cannot be shown.
    say?.('The store does not answer: the reply waits for it, up to a minute.').catch(() => {});
  }, soonMs);
  try {
    return await keeping;
  } finally {
    clearTimeout(timer);
  }
}
