// One shell on a pseudo-terminal, in which the commands and the lines of the REPL are typed.
import type { TerminalScreen } from '../../support/terminal-screen.ts';

export class Shell {
  readonly screen: TerminalScreen;
  #commands = 0;

  constructor(screen: TerminalScreen) {
    this.screen = screen;
  }

  /** Runs a command to its end and returns its output. It must end with this status. */
  async run(command: string, status = 0): Promise<string> {
    const mark = `ended ${++this.#commands}:`;
    await this.screen.stands('shell$ ');
    const typed = `${command}; echo "${mark} $?"`;
    this.screen.type(`${typed}\r`);
    const end = new RegExp(`^${mark} (\\d+)$`, 'm');
    await this.screen.until(`${command} has ended`, () => end.test(this.screen.text));
    const shown = this.screen.text.slice(this.screen.text.lastIndexOf(typed) + typed.length);
    const [, output = ''] = end.exec(shown) ?? [];
    if (Number(output) !== status) throw new Error(`${command} ended with ${output}:\n${shown}`);
    return shown.slice(0, shown.search(end)).trim();
  }

  /** Starts the REPL. */
  async open(command: string, prompt: string): Promise<void> {
    await this.screen.stands('shell$ ');
    this.screen.type(`${command}\r`);
    await this.screen.stands(prompt);
  }

  /** Types keys without the end of a line. */
  async type(keys: string, row: string): Promise<void> {
    this.screen.type(keys);
    await this.screen.stands(row);
  }
}
