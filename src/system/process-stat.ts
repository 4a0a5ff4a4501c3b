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

/** Null for a text of another form. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses. The name may contain spaces and parentheses, so the last closing parenthesis
  // ends it.
  const [state = '', , , session, terminal, ...rest] = text
    .slice(text.lastIndexOf(')') + 1)
    .trimStart()
    .split(' ');
  const startTime = rest[14];
  if (!text.includes(')') || session === undefined || terminal === undefined || startTime === undefined)
    return null;
  if (![session, terminal, startTime].every((field) => /^-?\d+$/.test(field))) return null;
  return { hasEnded: /^[ZXx]$/.test(state), session: Number(session), terminal: Number(terminal), startTime };
}
