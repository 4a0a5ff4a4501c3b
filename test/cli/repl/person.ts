// A user with a store, a model and some programs, who opens the REPL repeatedly, for long scripts of use.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPacedModel, type PacedModel } from '../../support/paced-model.ts';
import type { Place, Variables } from '../../support/parley.ts';
import type { ScreenOptions, TerminalScreen } from '../../support/terminal-screen.ts';
import { messagesOf, ReplFixture } from './repl-fixture.ts';

const size = { columns: 100, rows: 40 };

export class Person {
  readonly place: Place;
  /** The model of the mode `slow`. */
  readonly model: PacedModel;
  readonly #fixture: ReplFixture;
  readonly #screens: TerminalScreen[] = [];

  constructor(fixture: ReplFixture, place: Place, model: PacedModel) {
    this.#fixture = fixture;
    this.place = place;
    this.model = model;
  }

  open(words: readonly string[], options: Partial<ScreenOptions> = {}): TerminalScreen {
    const env = {
      NO_COLOR: undefined,
      EDITOR: 'add-words',
      VISUAL: '',
      PAGER: 'cat',
      DISPLAY: ':0',
      ...options.env,
    };
    const screen = this.#fixture.open(words, { ...size, ...options, env }, this.place);
    this.#screens.push(screen);
    return screen;
  }

  openShell(env: Variables): TerminalScreen {
    return this.#fixture.keep(this.place.shellScreen({ ...size, env }));
  }

  /** The slash commands after a prompt, on all screens so far. */
  commands(): readonly string[] {
    const text = this.#screens.map((screen) => screen.text).join('\n');
    return [...text.matchAll(/^[a-z]+(?: \(.*\))?> \/(\w+)/gm)].map(([, word]) => word ?? '');
  }

  async said(id: string): Promise<readonly string[]> {
    return (await messagesOf(this.place, id)).map(({ content }) => content);
  }

  async close(): Promise<void> {
    this.#fixture.close();
    await this.model.close();
  }
}

export async function openPerson(): Promise<Person> {
  const fixture = new ReplFixture();
  const place = fixture.place();
  const model = await openPacedModel();
  // The first use is over: a store and its key exist.
  await place.output(['models']);
  await place.output(['modes', 'add', 'slow', '--base-url', model.url, '--model', 'm']);
  const programs = {
    xclip: `cat > '${place.path}/clipboard'`,
    'add-words': 'printf ", from the editor\\n" >> "$1"',
  };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(place.path, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(place.path, 'notes.md'), 'Buy milk.\n');
  return new Person(fixture, place, model);
}

/** The rows of the screen that are not empty, from the last one with this text. */
export function rowsFrom(screen: TerminalScreen, first: string): readonly string[] {
  const rows = screen.rows.filter((row) => row !== '');
  return rows.slice(rows.lastIndexOf(first));
}

/** The output of `stty` in a shell at its prompt. */
export async function terminalSettings(shell: TerminalScreen): Promise<string> {
  const reports = () => [...shell.text.matchAll(/speed [\s\S]*?(?=\nshell\$)/g)].map(([all]) => all);
  await shell.stands('shell$ ');
  const count = reports().length;
  shell.type('stty -a\r');
  await shell.until('stty', () => reports().length > count && shell.cursorRow === 'shell$');
  return reports().at(-1) ?? '';
}

/** The last process that a shell started. */
export function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return Number(children.at(-1));
}
