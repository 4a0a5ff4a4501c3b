// The scripted hour: the turns of a user in the REPL and in the shell, in rounds. After each round the rows of the store must match the expected
// session.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { entered } from '../../cli/repl/repl-fixture.ts';
import { ExpectedSession } from './expected-session.ts';
import type { Home } from './homes.ts';
import { Shell } from './shell.ts';

export class Hour {
  readonly #home: Home;
  #shell: Shell;
  readonly #sessions: ExpectedSession[] = [];

  private constructor(home: Home) {
    this.#home = home;
    this.#shell = openShell(home);
  }

  static async begin(home: Home): Promise<Hour> {
    const { place } = home;
    writeFileSync(join(place.path, 'bin', 'reword'), '#!/bin/sh\nprintf "Asked otherwise" > "$1"\n', {
      mode: 0o755,
    });
    const stdin = '---\nmode: other\n---\nIn {{language:English}}: {{input}}';
    await place.output(['templates', 'edit', 'brief'], { stdin });
    return new Hour(home);
  }

  /** The number of turns of the model. */
  get turns(): number {
    return this.#home.model.turns.length;
  }

  /** A full round has 12 turns in the REPL and 7 in the shell; a short one has 9 and 4. */
  async round(number: number, { isWhole }: { readonly isWhole: boolean }): Promise<void> {
    if (number > 1) {
      this.close();
      this.#shell = openShell(this.#home);
    }
    const session = await this.#talk(
      `Round ${number}`,
      isWhole ? ['Code?', 'A table?', 'A list?', 'Headings?'] : ['A list?'],
    );
    await this.#goOn(session);
    if (isWhole) await this.#look(session);
    await this.#check();
  }

  close(): void {
    this.#shell.screen.close();
  }

  async #talk(title: string, questions: readonly string[]): Promise<ExpectedSession> {
    const { screen } = this.#shell;
    const { at, model } = this.#home;
    await this.#shell.open('parley', `own${at}> `);
    const first = `What is ${title.toLowerCase()}?`;
    await entered(screen, first);
    let prompt = `own${at} (${first})> `;
    await screen.stands(prompt);
    const id = /^session_id: (\S+)$/m.exec(await entered(screen, '/status'))?.[1] ?? '';
    const session = new ExpectedSession(id);
    this.#sessions.push(session);
    session.said(first, 'own', model.last);
    const ask = async (text: string, mode = 'own', to = session) => {
      const output = await entered(screen, text);
      expect(output).toContain(`Reply ${model.turns.length}.`);
      expect(output).toContain(`End of ${model.turns.length}.`);
      to.said(text, mode, model.last);
    };
    for (const text of questions) await ask(text);
    expect(await entered(screen, `/title ${title}`)).toBe(`Renamed ${id} to ${title}`);
    session.title = title;
    prompt = `own${at} (${title})> `;

    expect(await entered(screen, '/system Be brief.')).toBe('The session continues with this system prompt.');
    session.system = 'Be brief.';
    await entered(screen, '/param temperature=0.2');
    session.temperature = 0.2;
    await ask('Briefly?');
    await entered(screen, '/mode other');
    await ask('And in another mode?', 'other');
    expect(await entered(screen, '/regenerate')).toContain(`End of ${model.turns.length}.`);
    session.regenerated('other', model.last);
    await entered(screen, '/regenerate own');
    session.regenerated('own', model.last);

    for (const undone of ['And in another mode?', 'Briefly?']) {
      await this.#shell.type('/undo\r', `${prompt}${undone}`);
      session.undone();
      await this.#shell.type('\x15', prompt);
    }
    expect(await entered(screen, '/redo')).toBe('Restored: Briefly?');
    session.redone();
    screen.type('/edit\r');
    await screen.until('the edited question is answered', () => {
      return screen.text.endsWith(`End of ${model.turns.length}.\n\n${prompt.trimEnd()}`);
    });
    session.undone();
    session.said('Asked otherwise', 'own', model.last);

    expect(await entered(screen, '/fork Copy')).toMatch(
      /^This is the copy ses_\w+\. \/back returns to the original\.$/,
    );
    prompt = `own${at} (Copy)> `;
    await screen.stands(prompt);
    const copyId = /^session_id: (\S+)$/m.exec(await entered(screen, '/status'))?.[1] ?? '';
    const copy = session.forked(copyId, 'Copy');
    this.#sessions.push(copy);
    await ask('Only in the copy.', 'own', copy);
    await entered(screen, '/back');
    prompt = `own${at} (${title})> `;
    await screen.stands(prompt);
    await ask('Only in the first.');

    await entered(screen, `/resume ${copy.end}`);
    await screen.stands(`own${at} (Copy)> `);
    await entered(screen, `/resume ${title}`);
    await screen.stands(prompt);
    screen.type(`/sessions ${title}\r`);
    await screen.until('the list', () => screen.rows.some((row) => row.startsWith(`❯ ${title}`)));
    screen.type('\r');
    await screen.stands(prompt);
    const history = await entered(screen, '/history');
    expect(history).toContain('You · ');
    expect(history).toMatch(/│/);
    expect(history).toContain('Only in the first.');
    screen.type('\x04');
    await screen.shows(`-s ${id}`);
    return session;
  }

  /** In the shell: the session of the REPL, by `-c`, by its title and by the end of its id. */
  async #goOn(session: ExpectedSession): Promise<void> {
    const { model } = this.#home;
    const chat = async (words: string, message: string, mode = 'own') => {
      const output = await this.#shell.run(`parley chat ${words}`);
      expect(output).toContain(`End of ${model.turns.length}.`);
      session.said(message, mode, model.last);
    };
    await chat('-c "From the shell?"', 'From the shell?');
    await chat(`-s "${session.title}" -m other "By its title?"`, 'By its title?', 'other');
    await this.#shell.run(`parley sessions undo ${session.end}`);
    session.undone();
    await chat('-c "Otherwise?"', 'Otherwise?');
    await chat(`-s ${session.end} -t brief --set language=German "Hello"`, 'In German: Hello', 'other');
  }

  async #look(session: ExpectedSession): Promise<void> {
    const { model, place, at } = this.#home;
    const { end, title } = session;
    await this.#shell.run(`parley chat -s ${end} --regenerate -m own`);
    session.regenerated('own', model.last);
    await this.#shell.run(`parley sessions undo "${title}"`);
    session.undone();
    await this.#shell.run(`parley sessions redo ${end}`);
    session.redone();
    const copyId = await this.#shell.run(`parley sessions fork ${end} --title "Second copy"`);
    const copy = session.forked(copyId, 'Second copy');
    this.#sessions.push(copy);
    await this.#shell.run('parley chat -c --temperature 0 "In the second copy"');
    copy.temperature = 0;
    copy.said('In the second copy', 'own', model.last);
    await this.#shell.run(`parley chat -s ${copy.end} --fork --title "Third" "In the third"`);
    const third = copy.forked(await this.#idOf('Third', this.#sessions), 'Third');
    third.said('In the third', 'own', model.last);
    this.#sessions.push(third);

    const list = await this.#shell.run('parley sessions list');
    expect(list).toMatch(new RegExp(`^${title} +(now|\\d min ago) +own +\\d+ +${end}`, 'm'));
    expect(await this.#shell.run(`parley sessions show ${end}`)).toContain('Asked otherwise');
    const all = await this.#shell.run(`parley sessions messages "${title}" --all`);
    expect(all).toContain('alternative');
    expect(all).toContain('undone');
    await this.#shell.run(`parley sessions export ${end} -o out.html && mv out.html last.html`);
    expect(readFileSync(join(place.path, 'last.html'), 'utf8')).toContain('Asked otherwise');
    expect(await this.#shell.run('parley sessions search otherwise')).toContain(title);
    await this.#shell.run('parley doctor');
    if (at === '') expect(await this.#shell.run('parley modes test other')).toMatch(/^other replied in /m);
    await this.#shell.run('parley sessions get nothing-there', 5);
  }

  /** The id of the session with this title that is not in the list yet. */
  async #idOf(title: string, known: readonly ExpectedSession[]): Promise<string> {
    const rows = await this.#home.sessions();
    const ids = rows.filter((row) => row.title === title).map(({ session_id }) => session_id);
    return ids.find((id) => !known.some((session) => session.id === id)) ?? '';
  }

  async #check(): Promise<void> {
    const rows = await this.#home.sessions();
    expect(rows).toHaveLength(this.#sessions.length);
    for (const session of this.#sessions) {
      const row = rows.find(({ session_id }) => session_id === session.id);
      session.check(row, await this.#home.line(session.id));
    }
  }
}

/** Each round has a window of its own, because a terminal keeps a limited number of lines. */
function openShell({ place, env }: Home): Shell {
  const own = { EDITOR: 'reword', PAGER: 'cat', NO_COLOR: '1', NO_PROXY: '*', HISTFILE: '' };
  return new Shell(place.shellScreen({ columns: 150, rows: 40, env: { ...env, ...own } }));
}
