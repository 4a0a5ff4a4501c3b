// A timer that is passed as an argument, so that a test can pass its own.

/** Runs the action once after a time, unless the returned function is called before. */
export type StartTimer = (milliseconds: number, action: () => void) => () => void;

/** The real timer. It never keeps the process alive. */
export const startTimer: StartTimer = (milliseconds, action) => {
  const timer = setTimeout(action, milliseconds);
  timer.unref();
  return () => clearTimeout(timer);
};
