// A typed line in a terminal that changes its width: it is shown once, complete, and without its earlier layout.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { hasCommand } from '../../support/machine.ts';
import { leave, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  fixture.close();
});

/** There is no output to wait for. A user does not type sooner after the end of a resize. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 250));

const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');

describe.skipIf(!hasCommand('tmux'))('in tmux, which rewraps lines', () => {
  test('a line over several rows is shown once after any resizing and editing', async () => {
    const place = fixture.place();
    // The store exists, so no message appears above the line during the resize.
    await place.answer(['models']);
    const socket = join(place.path, 'tmux.socket');
    const settings = join(place.path, 'tmux.conf');
    writeFileSync(settings, 'set -g status off\nset -g escape-time 0\n');
    ends.push(() => spawnSync('tmux', ['-S', socket, 'kill-server']));
    const screen = fixture.keep(place.shellScreen({ columns: 100, rows: 30, env: { NO_COLOR: '1' } }));
    await screen.stands('shell$ ');
    const command = `printf '%s\\n' 1 2 3 4 5 6 7 8 9 10 11 12 13 above; parley --quiet repl -m echo; sleep 60`;
    screen.type(`tmux -f ${settings} -S ${socket} new-session "${command}"\r`);
    await screen.stands('echo> ');
    screen.type(words);
    const shown = () =>
      spawnSync('tmux', ['-S', socket, 'capture-pane', '-p', '-J', '-S', '-'], { encoding: 'utf8' })
        .stdout.split('\n')
        .map((row) => row.trimEnd())
        .filter((row) => row !== '' && !/^\d+$/.test(row));
    const stands = (line: string) =>
      screen.until(
        line,
        () => JSON.stringify(shown()) === JSON.stringify(['above', `echo> ${line}`.trimEnd()]),
      );
    await stands(words);
    for (const columns of [30, 75, 41, 100, 23, 60]) {
      screen.resize(columns, 30);
      await settled();
      await stands(words);
    }
    screen.type('\x7f\x7f!');
    await stands(`${words.slice(0, -2)}!`);
    screen.resize(34, 30);
    await settled();
    screen.type('\x01First \x05?');
    await stands(`First ${words.slice(0, -2)}!?`);
    screen.type('\x15');
    await stands('');
  });
});

test('the title at the prompt is shortened to the new width', async () => {
  const title = 'A title of some thirty letters';
  // The emulator leaves the row with the cursor as it is.
  const env = { TERM_PROGRAM: 'vscode' };
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 100, env });
  await screen.stands('echo> ');
  screen.type(`/new ${title}\r`);
  await screen.stands(`echo (${title})> `);
  screen.type('typed');
  screen.resize(40, 24);
  await screen.stands('echo (A title o…)> typed');
  screen.resize(100, 24);
  await screen.stands(`echo (${title})> typed`);
  expect(screen.rows.filter((row) => row.includes('typed'))).toEqual([`echo (${title})> typed`]);
  screen.type('\x15');
  await screen.stands(`echo (${title})> `);
  await leave(screen);
});
