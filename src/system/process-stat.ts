// Reads `/proc/<pid>/stat` of Linux (proc_pid_stat(5)).

export interface ProcessStat {
  /** True for a process that has ended and whose parent has not yet asked for its status (state Z or X). */
  readonly hasEnded: boolean;
  readonly session: number;
  /** The device number of the controlling terminal; 0 for none. */
  readonly terminal: number;
  /** In clock ticks since the machine started. Together with the pid it identifies a process. */
  readonly startTime: string;
}

/** The fields from the third on: the state, the session, the terminal, and the 22nd, the start time. */
const fields = /^\) (\S) -?\d+ -?\d+ (-?\d+) (-?\d+) (?:-?\d+ ){14}(\d+)/;

/** Null for a text of another form. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses. The name may contain spaces and parentheses, so the last closing parenthesis
  // ends it.
  const [, state = '', session, terminal, startTime = ''] =
    fields.exec(text.slice(text.lastIndexOf(')'))) ?? [];
  if (session === undefined || terminal === undefined) return null;
  return { hasEnded: /^[ZXx]$/.test(state), session: Number(session), terminal: Number(terminal), startTime };
}
