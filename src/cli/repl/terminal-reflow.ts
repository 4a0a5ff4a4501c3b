// Decides whether a resized terminal wraps the line at its prompt again. No terminal reports that, so its name decides.
import type { Environment } from '../terminal/style.ts';

/**
 * Most terminals do: tmux, and the terminals of GNOME, KDE, macOS and Windows, kitty, Alacritty, WezTerm, foot. These do not: xterm, the
 * Linux console, GNU screen, and xterm.js (Visual Studio Code), which does not reflow the line that holds the cursor.
 */
export function reflowsItsLine(env: Environment): boolean {
  if (env['TMUX']) return true;
  return !(env['XTERM_VERSION'] || env['STY'] || env['TERM'] === 'linux' || env['TERM_PROGRAM'] === 'vscode');
}
