// The process as a job of a shell: the events and actions that a program needs while it controls the terminal.

export interface Job {
  /** Only the listener handles SIGINT, until the returned function is called. The next three methods return such a function, too. */
  onInterrupt(listener: () => void): () => void;
  /** Only the listener handles SIGHUP. */
  onHangUp(listener: () => void): () => void;
  /** The listener is called when the process continues after a stop. Another program may have changed the terminal meanwhile. */
  onContinue(listener: () => void): () => void;
  /** Runs the action when the process ends in any way except SIGKILL. The action must be synchronous. */
  atExit(action: () => void): () => void;
  /** Stops the process and its group, as Ctrl-Z does. Resolves after `fg`, or soon if no shell waits. */
  suspend(): Promise<void>;
}
