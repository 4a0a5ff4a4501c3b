// A reply that is long in being kept: another program holds the store. Whoever waits for the end of the chat is told why.

const soonMs = 2000;

export type Say = (line: string) => Promise<void>;

/** `say`: null where nobody can be told. */
export async function keptSoon<T>(keeping: Promise<T>, say: Say | null): Promise<T> {
  const timer = setTimeout(() => {
    // The wait goes on, whether it could be said or not.
    say?.('The store is in use by another program: the reply waits for it, up to a minute.').catch(() => {});
  }, soonMs);
  try {
    return await keeping;
  } finally {
    clearTimeout(timer);
  }
}
