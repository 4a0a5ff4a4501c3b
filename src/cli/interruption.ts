// Why work stops before its end: a signal, a reader that went away, or Ctrl-C at a question or at a line of the REPL. It is the reason
// of the abort signal that the work carries.

const signalStatus = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof signalStatus;
export type InterruptionStatus = (typeof signalStatus)[StopSignal];

export class Interruption extends Error {
  override readonly name = 'Interruption';
  /** Of the process, where this ends it. */
  readonly exitStatus: number;
  /** `process`: the command ends. `line`: a person stopped a question, or what runs at a line of the REPL, which goes on. */
  readonly scope: 'process' | 'line';

  constructor(cause: StopSignal | 'closed pipe', scope: 'process' | 'line' = 'process') {
    super(cause);
    this.exitStatus = cause === 'closed pipe' ? 0 : signalStatus[cause];
    this.scope = scope;
  }
}
