// Whether a terminal that is resized wraps the line at its prompt anew. Nobody can ask it; its name is all that there is to go by.
import type { Environment } from '../terminal/style.ts';

/**
 * Most do: tmux, those of GNOME, KDE and macOS, kitty, Alacritty, WezTerm, foot, Windows. These do not: xterm and the console of
 * Linux, which never do; GNU screen; and xterm.js, as in Visual Studio Code, which leaves the line with the cursor as it is.
 */
export function reflowsItsLine(env: Environment): boolean {
  if (env['TMUX']) return true;
  return !(env['XTERM_VERSION'] || env['STY'] || env['TERM'] === 'linux' || env['TERM_PROGRAM'] === 'vscode');
}
