// Identifies the terminal of this process by a text that is the same for all commands in that terminal, and different in other terminals.
import { parseProcessStat } from './process-stat.ts';

export interface TerminalDependencies {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file. It may throw if there is no such file. */
  readText(path: string): string;
  /** The number of the device of the terminal that a standard stream is; null if none of them is a terminal. */
  device(): number | null;
}

/** The innermost terminal first: the panes of a multiplexer inherit the variables of the terminal that it was started in. */
const terminalVariables = [
  ['TMUX', 'TMUX_PANE'],
  ['STY', 'WINDOW'],
  ['TERM_SESSION_ID'],
  ['ITERM_SESSION_ID'],
  ['WT_SESSION'],
  ['KITTY_PID', 'KITTY_WINDOW_ID'],
  ['WEZTERM_UNIX_SOCKET', 'WEZTERM_PANE'],
  ['ALACRITTY_WINDOW_ID'],
  ['WINDOWID'],
  ['SSH_CONNECTION', 'SSH_TTY'],
] as const;

/** Null if there is no terminal, or if it cannot be identified. */
export function terminalIdentity(dependencies: TerminalDependencies): string | null {
  const own = dependencies.platform === 'linux' ? readStat(dependencies, 'self') : null;
  // Variables come first: a command whose streams are all redirected has them, but no device.
  if (own === null) return identityByVariables(dependencies.env) ?? identityByDevice(dependencies.device());
  if (own.terminal === 0) return null;
  // Device numbers and pids are reused. The start time of the session leader distinguishes this terminal from an earlier one.
  const leader = own.session > 0 ? readStat(dependencies, String(own.session)) : null;
  return `tty ${own.terminal} ${own.session} ${leader?.startTime ?? 'unknown'}`;
}

function readStat(dependencies: TerminalDependencies, pid: string) {
  try {
    return parseProcessStat(dependencies.readText(`/proc/${pid}/stat`));
  } catch {
    return null;
  }
}

function identityByVariables(env: TerminalDependencies['env']): string | null {
  for (const names of terminalVariables) {
    if (names.every((name) => env[name])) return names.map((name) => `${name}=${env[name]}`).join(' ');
  }
  return null;
}

/** A new terminal may get the number of a closed one, and then continues its session. Without `/proc` nothing tells them apart. */
function identityByDevice(device: number | null): string | null {
  return device === null ? null : `device ${device}`;
}
