// Half an hour of use as a script: several runs of the real REPL over one store, in terminals of several kinds. The screen is checked row by row.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page, Session } from '../../../src/service/session.ts';
import { withoutOwnColour } from '../terminal/attacks.ts';
import { childOf, openPerson, type Person, rowsFrom, terminalSettings } from './person.ts';
import { entered, leave, messagesOf, paste } from './repl-fixture.ts';

let person: Person;
/** The session of the first evening. */
let ada = '';

beforeAll(async () => {
  person = await openPerson();
});
afterAll(() => person.close());

const pasted = Array.from({ length: 500 }, (_, at) => `row ${at}: /quit \\ "你好"`);

test('the first evening: a talk, several lines, a paste, a file, wide characters', async () => {
  const screen = person.open([]);
  await screen.stands('eliza> ');
  screen.type('\x03');
  await screen.shows('Press Ctrl-D to leave.');
  await screen.stands('eliza> ');
  screen.type('never sent');
  await screen.stands('eliza> never sent');
  screen.type('\x03');
  await screen.stands('eliza> ');
  expect(await entered(screen, 'My name is Ada.')).toBe(
    'Pleased to meet you, Ada. What brings you here?\neliza is not a language model. To set one up: parley setup',
  );
  expect(await entered(screen, 'What is my name?')).toBe('Your name is Ada.');
  expect(screen.rows.slice(0, 11)).toEqual([
    '/help lists the commands and keys.',
    'eliza>',
    'Press Ctrl-D to leave.',
    'eliza> never sent',
    'eliza> My name is Ada.',
    'Pleased to meet you, Ada. What brings you here?',
    'eliza is not a language model. To set one up: parley setup',
    '',
    'eliza (My name is Ada.)> What is my name?',
    'Your name is Ada.',
    '',
  ]);
  expect(screen.bytes).toContain('\x1b[1meliza');

  screen.type('/mo\tec\t');
  await screen.stands('eliza (My name is Ada.)> /mode echo');
  screen.type('\r');
  const prompt = 'echo (My name is Ada.)> ';
  await screen.stands(prompt);
  for (const keys of ['one\x1b\rtwo', 'one\\\rtwo', '"""one\rtwo\r"""']) {
    await screen.typeLines(keys);
    await screen.until('two lines', () => /^ {2}(two|""")$/.test(screen.cursorRow));
    screen.type('\r');
    await screen.until('answered', () => screen.text.endsWith(`one\ntwo\n\n${prompt.trimEnd()}`));
    await screen.stands(prompt);
  }
  expect(rowsFrom(screen, `${prompt}"""one`)).toEqual([
    `${prompt}"""one`,
    '  two',
    '  """',
    'one',
    'two',
    prompt.trimEnd(),
  ]);

  screen.type(`See: ${paste(`${pasted.join('\n')}\n`)}`);
  await screen.stands(`${prompt}See: [pasted 500 lines]`);
  screen.type('The end.\r');
  await screen.until('answered', () => screen.text.endsWith(`The end.\n\n${prompt.trimEnd()}`));
  await screen.stands(prompt);
  expect(screen.text.split('\n').includes(`${prompt}See: [pasted 500 lines]The end.`)).toBe(true);

  screen.type('/file no\t');
  await screen.stands(`${prompt}/file notes.md`);
  screen.type('\r');
  await screen.stands('echo (My name is Ada.) +1> ');
  expect(rowsFrom(screen, `${prompt}/file notes.md`)[1]).toBe(
    'Attached notes.md (10 bytes) to the next message.',
  );
  await entered(screen, 'What is missing?');

  screen.type('你好世界 👩‍👩‍👧 é👍🏽x');
  await screen.stands(`${prompt}你好世界 👩‍👩‍👧 é👍🏽x`);
  screen.type('\x7f\x7f\x01\x1b[C\x1b[C\x7f');
  await screen.stands(`${prompt}你世界 👩‍👩‍👧 é`);
  expect(screen.cursor.column).toBe(prompt.length + 2);
  screen.type('\r');
  await screen.until('answered', () => screen.text.endsWith(`\n你世界 👩‍👩‍👧 é\n\n${prompt.trimEnd()}`));
  await screen.stands(prompt);

  ada = await leave(screen);
  expect(screen.rows.filter((row) => row !== '').at(-1)).toBe(`Continue with: parley repl -s ${ada}`);
  const contents = await person.said(ada);
  expect(contents.filter((_, at) => at % 2 === 0).map((text) => text.trimEnd())).toEqual([
    'My name is Ada.',
    'What is my name?',
    ...['one\ntwo', 'one\ntwo', 'one\ntwo'],
    `See: ${pasted.join('\n')}\nThe end.`,
    'What is missing?\n\n```notes.md\nBuy milk.\n```',
    '你世界 👩‍👩‍👧 é',
  ]);
}, 120_000);

test('the next day: the history, and every command of /help', async () => {
  const screen = person.open(['repl', '-m', 'echo']);
  await screen.stands('echo> ');
  screen.type('\x1b[A');
  await screen.stands('echo> 你世界 👩‍👩‍👧 é');
  screen.type('\x1b[A');
  await screen.stands('echo> What is missing?');
  screen.type('\x15');
  await screen.stands('echo> ');
  screen.type('\x12name is');
  await screen.until('found', () => screen.cursorRow === '(search "name is") My name is Ada.');
  screen.type('\x03');
  await screen.stands('echo> ');

  const help = await entered(screen, '/help');
  const named = [...help.matchAll(/^\/(\w+)/gm)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThanOrEqual(25);

  screen.type('/resume my na\t');
  await screen.stands('echo> /resume my name is Ada.');
  screen.type('\r');
  const prompt = 'echo (My name is Ada.)> ';
  await screen.stands(prompt);
  expect(rowsFrom(screen, '> 你世界 👩‍👩‍👧 é')).toEqual([
    '> 你世界 👩‍👩‍👧 é',
    '你世界 👩‍👩‍👧 é',
    prompt.trimEnd(),
  ]);
  expect(await entered(screen, '/title Ada')).toBe(`Renamed ${ada} to Ada`);
  await screen.stands('echo (Ada)> ');
  expect(await entered(screen, '/history')).toContain('You · ');
  expect(await entered(screen, '/search milk')).toContain('Ada');
  expect(await entered(screen, 'copy me 你好')).toBe('copy me 你好');
  expect(await entered(screen, '/copy')).toBe('Copied 10 characters (with xclip and OSC 52).');
  expect(readFileSync(join(person.place.path, 'clipboard'), 'utf8')).toBe('copy me 你好');
  expect(await entered(screen, '/retry')).toBe(
    'The last reply is complete; /regenerate asks for another one.',
  );
  expect(await entered(screen, '/regenerate')).toBe('copy me 你好');
  screen.type('/undo\r');
  await screen.stands('echo (Ada)> copy me 你好');
  screen.type('\x15');
  await screen.stands('echo (Ada)> ');
  expect(await entered(screen, '/redo')).toBe('Restored: copy me 你好');
  await entered(screen, '/fork Other');
  await screen.stands('echo (Other)> ');
  expect(await entered(screen, '/back')).toContain('copy me 你好');
  await screen.stands('echo (Ada)> ');
  expect(await entered(screen, '/system Be brief.')).toBe('The session continues with this system prompt.');
  expect(await entered(screen, '/param top_p=1')).toBe('The session continues with the parameters top_p=1.');
  expect(await entered(screen, '/pin')).toMatch(/ses_\w+/);
  expect(await entered(screen, '/tag +work')).toBe('work');
  expect(await entered(screen, '/archive')).toMatch(/ses_\w+/);
  expect(await entered(screen, '/archive off')).toMatch(/ses_\w+/);
  expect(await entered(screen, '/template')).toContain('There are no templates yet.');
  expect(await entered(screen, '/save talk.md')).toMatch(/^Wrote \d+ bytes to talk.md.$/);
  expect(readFileSync(join(person.place.path, 'talk.md'), 'utf8')).toContain('\ncopy me 你好\n');
  screen.type('/edit begun\r');
  await screen.stands('echo (Ada)> begun, from the editor');
  screen.type('\x15');
  await screen.stands('echo (Ada)> ');

  await entered(screen, '/new Second');
  await screen.stands('echo (Second)> ');
  expect(await entered(screen, '/status')).toMatch(/^mode: echo\n[\s\S]*title: Second\n/);
  expect(await entered(screen, '/delete')).toMatch(/^deleted ses_\w+\n\/restore brings it back\.$/);
  await screen.stands('echo> ');
  expect(await entered(screen, '/restore')).toMatch(/^restored ses_\w+$/);
  await screen.stands('echo (Second)> ');

  // In the list, Ctrl-C returns to the prompt; then the first evening is selected.
  screen.type('/sessions\r');
  await screen.shows('Which session?');
  await screen.until('the list', () => screen.rows.some((row) => row.startsWith('❯ Second')));
  screen.type('\x03');
  await screen.stands('echo (Second)> ');
  expect(screen.rows.some((row) => row.includes('Which session?'))).toBe(false);
  screen.type('/sessions a\r');
  await screen.until('one', () => screen.rows.some((row) => row.startsWith('❯ Ada')));
  screen.type('\r');
  await screen.stands('echo (Ada)> ');
  await entered(screen, '/mode eliza');
  await screen.stands('eliza (Ada)> ');
  screen.type('/q\r');
  expect(await screen.ended).toEqual({ status: 0, signal: 0 });

  const last = person.open(['repl']);
  await last.stands('eliza> ');
  last.type('/exit\r');
  expect(await last.ended).toEqual({ status: 0, signal: 0 });
  expect(named.filter((name) => !person.commands().some((word) => name.startsWith(word)))).toEqual([]);
}, 120_000);

test('a slow model: stopped before and in a reply, resized, suspended, and ended by a signal', async () => {
  const shell = person.openShell({ TERM_PROGRAM: 'vscode' });
  const before = await terminalSettings(shell);
  shell.type('parley repl -m slow\r');
  await shell.stands('slow> ');

  shell.type('A question\r');
  const first = await person.model.next();
  expect(first.asked).toBe('A question');
  await shell.shows('Waiting for the reply');
  shell.type('\x03');
  await first.closed;
  await shell.shows('[stopped; your message is kept]');
  const prompt = 'slow (A question)> ';
  await shell.stands(prompt);
  expect(rowsFrom(shell, 'slow> A question')).toEqual([
    'slow> A question',
    '[stopped; your message is kept]',
    prompt.trimEnd(),
  ]);

  shell.type('Another\r');
  const second = await person.model.next();
  second.say('One two ');
  await shell.shows('One two');
  shell.type('\x03');
  await second.closed;
  await shell.shows('[stopped; the partial reply is kept]');
  await shell.stands(prompt);
  expect(rowsFrom(shell, `${prompt}Another`)).toEqual([
    `${prompt}Another`,
    'One two',
    '[stopped; the partial reply is kept]',
    prompt.trimEnd(),
  ]);

  shell.type('Many lines\r');
  const third = await person.model.next();
  const lines = Array.from({ length: 24 }, (_, at) => `${at + 1}. line ${at + 1}`);
  for (const [at, line] of lines.entries()) {
    third.say(`${line}\n`);
    if (at % 8 !== 7) continue;
    await shell.shows(lines[at - 1] ?? '');
    shell.resize(at === 7 ? 40 : 100, at === 7 ? 12 : 40);
  }
  shell.type('meanwhile');
  third.end();
  await shell.stands(`${prompt}meanwhile`);
  const listed = rowsFrom(shell, `${prompt}Many lines`).map((row) => row.trimStart());
  expect(listed).toEqual([`${prompt}Many lines`, ...lines, `${prompt}meanwhile`]);

  shell.type('\x1a');
  expect(await terminalSettings(shell)).toBe(before);
  shell.type('fg\r');
  await shell.stands(`${prompt}meanwhile`);
  shell.type('\r');
  const fourth = await person.model.next();
  fourth.say('Half of ');
  await shell.shows('Half of');
  process.kill(childOf(shell.pid), 'SIGTERM');
  await fourth.closed;
  expect(await terminalSettings(shell)).toBe(before);
  const { items } = await person.place.answer<Page<Session>>([
    'sessions',
    'list',
    '--title-match',
    'A question',
  ]);
  const turns = await messagesOf(person.place, items[0]?.session_id ?? '');
  expect(turns.map(({ content, finish_reason }) => [content.trimEnd(), finish_reason])).toEqual([
    ['A question', null],
    ['', 'interrupted'],
    ['Another', null],
    ['One two', 'interrupted'],
    ['Many lines', null],
    [lines.join('\n'), 'stop'],
    ['meanwhile', null],
    ['Half of', 'interrupted'],
  ]);
}, 120_000);

test('elsewhere: narrow, wide, without colour, on a plain terminal, and without one', async () => {
  const words = Array.from({ length: 30 }, (_, at) => `word${at}`).join(' ');
  for (const columns of [20, 200]) {
    const screen = person.open(['repl', '-m', 'echo', '-s', ada], { columns, env: { NO_COLOR: '1' } });
    const prompt = columns === 20 ? 'echo> ' : 'echo (Ada)> ';
    await screen.stands(prompt);
    screen.type(words);
    await screen.until('typed', () => screen.text.replaceAll('\n', '').endsWith(words));
    screen.type('\x15');
    await screen.stands(prompt);
    screen.type(`${words}\r`);
    await screen.until('answered', () => screen.text.endsWith(`word29\n\n${prompt.trimEnd()}`));
    await screen.stands(prompt);
    const reply = rowsFrom(screen, columns === 20 ? 'word0 word1 word2' : words);
    expect(reply.join(' ')).toBe(`${words} ${prompt.trimEnd()}`);
    expect(screen.bytes).toBe(withoutOwnColour(screen.bytes));
    expect(await leave(screen)).toBe(ada);
  }

  const plain = person.open(['repl', '-m', 'echo', '-s', ada], { env: { TERM: 'dumb' } });
  await plain.stands('echo (Ada)> ');
  expect(await entered(plain, 'plainly')).toBe('plainly');
  expect(plain.bytes).not.toContain('\x1b');
  expect(await leave(plain)).toBe(ada);

  const refused = await person.place.shell(`parley repl -s ${ada} < /dev/null`);
  expect(refused.status).toBe(2);
  expect(refused.err).toContain('(USAGE)');
  const piped = await person.place.shell(`echo /quit | parley -m echo -s ${ada}`);
  expect(piped.out).toBe('/quit\n');
  expect((await person.said(ada)).slice(-6)).toEqual([
    ...[words, words],
    ...['plainly', 'plainly'],
    ...['/quit\n', '/quit\n'],
  ]);
}, 120_000);
