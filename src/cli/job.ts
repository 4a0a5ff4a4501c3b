// The process as a job of a shell: what a program that has the terminal to itself must be told, and must be able to ask for.

export interface Job {
  /** SIGINT goes to the listener while it is held, and stops nothing else. Returns what lets go; so do the next three. */
  onInterrupt(listener: () => void): () => void;
  /** The same for SIGHUP. */
  onHangUp(listener: () => void): () => void;
  /** The process goes on after a stop: whoever had the terminal meanwhile may have changed it. */
  onContinue(listener: () => void): () => void;
  /** Runs the action as the process ends, however it ends but by SIGKILL. It cannot wait. */
  atExit(action: () => void): () => void;
  /** Stops the process and its group as Ctrl-Z does, and resolves once `fg` lets it go on; soon, where no shell waits for that. */
  suspend(): Promise<void>;
}
