// Reads `/proc/<pid>/stat` of Linux (proc_pid_stat(5)).
import { readFileSync } from 'node:fs';

export interface ProcessStat {
  /** True for a process that has ended and whose parent has not yet collected its status (state Z or X). */
  readonly hasEnded: boolean;
  /** The pid of the process that started it, or that adopted it after that one has ended. */
  readonly parent: number;
  readonly session: number;
  /** The device number of the controlling terminal; 0 for none. */
  readonly terminal: number;
  /** In clock ticks since the machine started. Together with the pid it identifies a process. */
  readonly startTime: string;
}

/** Null without such a process, and on other systems. */
export function readStat(pid: number, proc = '/proc'): ProcessStat | null {
  try {
    return parseProcessStat(readFileSync(`${proc}/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Null for a text in another format. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses. The name may contain spaces and parentheses, so the last closing parenthesis
  // ends it, and the third field follows.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, , session, terminal] = fields;
  const startTime = fields[19];
  if (session === undefined || terminal === undefined || startTime === undefined) return null;
  return {
    hasEnded: endedStates.has(state),
    parent: Number(parent),
    session: Number(session),
    terminal: Number(terminal),
    startTime,
  };
}

const endedStates: ReadonlySet<string> = new Set(['Z', 'X', 'x']);
