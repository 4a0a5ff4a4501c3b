// Lets whatever else has come have its turn: for work that lasts longer than anybody should wait.

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
