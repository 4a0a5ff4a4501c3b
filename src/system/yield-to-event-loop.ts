// Pauses long work, so that other work in this process can run.

/** Resolves in the next turn of the event loop, after the events that have already arrived are handled. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
