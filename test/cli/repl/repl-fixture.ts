// The REPL in a terminal of its own for the tests of this folder: over the embedded service of a place, or a server.
import type { Message, Page } from '../../../src/service/session.ts';
import type { Place, Variables } from '../../support/parley.ts';
import { PlaceInProcess } from '../../support/place-in-process.ts';
import type { ScreenOptions, TerminalScreen } from '../../support/terminal-screen.ts';

export class ReplFixture {
  readonly #places: Place[] = [];
  readonly #screens: TerminalScreen[] = [];

  /** The preparations and checks of a test run in this process; the REPL runs in one of its own. */
  place(): Place {
    const place = new PlaceInProcess();
    this.#places.push(place);
    return place;
  }

  /** Without colour, unless the test sets `NO_COLOR`. */
  open(args: readonly string[], options: Partial<ScreenOptions> = {}, place = this.place()): TerminalScreen {
    return this.keep(place.screen(args, { ...options, env: { NO_COLOR: '1', ...options.env } }));
  }

  keep(screen: TerminalScreen): TerminalScreen {
    this.#screens.push(screen);
    return screen;
  }

  close(): void {
    for (const screen of this.#screens.splice(0)) screen.close();
    for (const place of this.#places.splice(0)) place.remove();
  }
}

export function talkingTo(url: string): Variables {
  return { PARLEY_URL: url, PARLEY_API_KEY: 'none', NO_PROXY: '*' };
}

export async function messagesOf(place: Place, id: string): Promise<readonly Message[]> {
  return (await place.answer<Page<Message>>(['sessions', 'messages', id])).items;
}

/** Leaves an empty prompt with Ctrl-D, and returns the session that the REPL names then, or an empty text. */
export async function leave(screen: TerminalScreen): Promise<string> {
  screen.type('\x04');
  const { status } = await screen.ended;
  if (status !== 0) throw new Error(`It left with ${status}:\n${screen.text}`);
  return /Continue with:\s+parley repl .*-s (\S+)$/.exec(screen.text)?.[1] ?? '';
}

/** Types a line, and returns the output between it and the next prompt. */
export async function entered(screen: TerminalScreen, line: string): Promise<string> {
  // The row of the prompt. A message above it moves it down.
  const row = screen.text.lastIndexOf('\n') + 1;
  screen.type(`${line}\r`);
  const after = () => {
    const prompt = screen.text.indexOf(`> ${line}`, row);
    return prompt < 0 ? '' : screen.text.slice(prompt + 2);
  };
  await screen.until(
    `${line} is done`,
    () => after().startsWith(line) && /\n\w+(@\w+)?( \(.*\))?( \+\S+)*>$/.test(after()),
  );
  return after()
    .slice(line.length)
    .replace(/\n[^\n]*>$/, '')
    .trim();
}

/** The input of a terminal for a paste. */
export function paste(text: string): string {
  return `\x1b[200~${text.replaceAll('\n', '\r')}\x1b[201~`;
}

/** The text above the first prompt. */
export const greeting = '/help lists the commands and keys.\n';
