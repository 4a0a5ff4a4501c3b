// What `/proc/<pid>/stat` of Linux tells of a process (proc_pid_stat(5)).

export interface ProcessStat {
  /** True for a process that has ended and that its parent has not yet asked about (state Z or X). */
  readonly hasEnded: boolean;
  readonly session: number;
  /** The controlling terminal's device number; 0 for none. */
  readonly terminal: number;
  /** In clock ticks since the machine started: with the pid it names a process once. */
  readonly startTime: string;
}

/** Null for a text that is not of that form. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself: the last one ends it.
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
