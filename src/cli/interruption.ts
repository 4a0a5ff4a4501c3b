// The reason of an abort signal: a signal of the system, a closed pipe, or Ctrl-C at a question or a line of the REPL.

const signalStatus = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof signalStatus;
export type InterruptionStatus = (typeof signalStatus)[StopSignal];

export class Interruption extends Error {
  override readonly name = 'Interruption';
  /** The exit status of the process, if the interruption ends it. */
  readonly exitStatus: number;
  /** `process` ends the command. `line` stops a question or the work of one line of the REPL, and the REPL continues. */
  readonly scope: 'process' | 'line';

  constructor(cause: StopSignal | 'closed pipe', scope: 'process' | 'line' = 'process') {
    super(cause);
    this.exitStatus = cause === 'closed pipe' ? 0 : signalStatus[cause];
    this.scope = scope;
  }
}
