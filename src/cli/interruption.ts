// Why a command stops before its end: a signal, or a reader that went away. It is the reason of the abort signal that every
// command carries, and says with which status the process then ends.

const signalStatus = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof signalStatus;
export type InterruptionStatus = (typeof signalStatus)[StopSignal];

export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly exitStatus: number;

  constructor(cause: StopSignal | 'closed pipe') {
    super(cause);
    this.exitStatus = cause === 'closed pipe' ? 0 : signalStatus[cause];
  }
}
