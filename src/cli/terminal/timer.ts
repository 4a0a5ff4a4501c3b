// A timer as an argument: whoever waits takes one, and a test gives its own.

/** Runs the action once after a time, unless the function that it returns is called before. */
export type StartTimer = (milliseconds: number, action: () => void) => () => void;

/** The real one. It never keeps the process alive. */
export const startTimer: StartTimer = (milliseconds, action) => {
  const timer = setTimeout(action, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};
