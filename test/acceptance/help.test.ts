// The help of commands and topics, and the command whose help an error names.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { commandPath, eachCommand, outputHelpText, shownCommands } from '../../src/cli/command-tree.ts';
import { helpAppendix } from '../../src/cli/commands/help.ts';
import { exitStatusOf, exitStatusOfKind } from '../../src/cli/exit-codes.ts';
import { exampleText } from '../../src/cli/help-layout.ts';
import { examples } from '../../src/cli/manual/examples.ts';
import { variables } from '../../src/cli/manual/variables-and-files.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { type ErrorCode, errorKind } from '../../src/service/errors.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sourceFiles } from '../support/source-files.ts';

const place = new PlaceInProcess();
afterAll(() => place.remove());

describe('help', () => {
  test('of a command is the same by every way to request it', async () => {
    const words = await Promise.all([
      place.output(['sessions', 'delete', '--help']),
      place.output(['help', 'sessions', 'delete']),
      place.output(['sessions', 'help', 'delete']),
    ]);
    expect(words[0]).toMatch(/^Usage: parley sessions delete /);
    expect(new Set(words).size).toBe(1);
  });

  test('without arguments is that of parley, with its examples', async () => {
    const help = await place.output(['help']);
    expect(help).toBe(await place.output(['--help']));
    expect(help).toContain('\nExamples:\n');
    expect(help).not.toContain('__');
  });

  test('of a group begins with its commands, and names the global options at the end', async () => {
    const parts = async (...words: string[]) =>
      (await place.output([...words, '--help'])).match(/^[A-Z][\w ()-]+(?=:)/gm);
    expect(await parts('modes')).toEqual([
      'Usage',
      'Commands',
      'Options',
      'Global options (see parley --help)',
    ]);
    expect(await parts('profiles', 'use')).toEqual([
      ...['Usage', 'Arguments', 'Options', 'Global options (see parley --help)', 'Examples'],
    ]);
    expect(await parts()).toEqual(['Usage', 'Commands', 'Options', 'Examples']);
    const page = await place.output(['profiles', 'use', '--help']);
    expect(page).toContain('--profile, --url, --store, --json');
    expect(page).not.toContain('use this server');
  });

  test.each([
    [['help', 'frob'], "'frob' of parley.", 'See: parley --help'],
    [['help', 'chatt'], "'chatt' of parley.", 'Did you mean chat? See: parley --help'],
    [['help', 'restore'], "'restore' of parley.", 'Did you mean sessions restore? See: parley --help'],
    [['help', 'exit'], "'exit' of parley.", 'Did you mean exit-codes? See: parley --help'],
    [['help', 'enviroment'], "'enviroment' of parley.", 'Did you mean environment? See: parley --help'],
    [['help', 'sessions', 'xyzzy'], "'xyzzy' of parley sessions.", 'See: parley sessions --help'],
    [['sessions', 'help', 'xyzzy'], "'xyzzy' of parley sessions.", 'See: parley sessions --help'],
    [
      ['help', 'sessions', 'delete', 'x'],
      "'x' of parley sessions delete.",
      'See: parley sessions delete --help',
    ],
    [['sessions', 'delete', '--frob'], "'--frob'.", 'See: parley sessions delete --help'],
    [['sessions', 'lst'], "'lst'.", 'Did you mean list? See: parley sessions --help'],
    [['sessions', 'list', '--limit', 'x'], 'from 1 to 200.', 'See: parley sessions list --help'],
    [['chat', '-n', '-s', 'x', '-c', 'y'], 'together.', 'See: parley chat --help'],
  ])('a wrong line points to the help of its own command: %j', async (args, what, hint) => {
    const outcome = await place.parley(args);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    const [problem = '', next] = outcome.err.split('\n');
    expect(problem).toContain(what);
    expect(next).toBe(hint);
  });

  test.each([[[]], [['chat']], [['sessions', 'delete']]])('fits into 40 columns: %j', async (words) => {
    const screen = place.screen([...words, '--help'], { columns: 40, rows: 40, env: { PAGER: 'cat' } });
    await screen.ended;
    // The lines of the usage, of examples and of terms are not wrapped.
    const wrapped = screen.text.split('\n').filter((line) => !/^Usage:|^ {2}\S/.test(line));
    for (const line of wrapped) expect(line.length).toBeLessThanOrEqual(40);
    expect(screen.text).toMatch(/\n {2}-h, --help\n {4}print help\n/);
    screen.close();
  });

  test.each([
    [['chat', '--help']],
    [['repl', '--help']],
    [['templates', '--help']],
    [['sessions', 'redact', '--help']],
    [['sessions', 'search', '--help']],
    [['sessions', 'tag', '--help']],
    [['completion', '--help']],
    [['help', 'exit-codes']],
    [['help', 'environment']],
    [['help', 'formatting']],
  ])('with its notes fits into 80 columns, and ends with one line end: %j', async (words) => {
    const page = await place.output(words);
    const isCommand = /^ {2}parley /;
    const tooLong = page.split('\n').filter((line) => line.length > 80 && !isCommand.test(line));
    expect(tooLong).toEqual([]);
    expect(page).toMatch(/[^\n]\n$/);
  });

  test('as JSON is one body', async () => {
    const { text } = await place.answer<{ text: string }>(['help', 'exit-codes']);
    expect(text).toBe(await place.output(['help', 'exit-codes']));
  });
});

test('every command shows examples of its own, in lines of up to 78 columns', async () => {
  const program = await buildProgram([], '', () => async () => {}, {});
  const paths: string[] = [];
  // `show` is another name of `messages`.
  const others = ['parley help', 'parley sessions show'];
  eachCommand(program, (command) => {
    const path = commandPath(command);
    paths.push(path);
    if (command.commands.length > 0 || others.includes(path)) return;
    if (command.parent === null || shownCommands(command.parent).includes(command))
      expect(examples, path).toHaveProperty([path]);
  });
  for (const [path, own] of Object.entries(examples)) {
    expect(paths).toContain(path);
    for (const [line] of own) expect(line).toContain(path);
    for (const line of exampleText(own, 78).split('\n')) expect(line.length, line).toBeLessThanOrEqual(78);
  }
});

test.each([
  [['keys', 'create'], '--project <name>'],
  [['retention', 'set'], '--after <time>'],
  [['store', 'copy'], '--from <store> --to <store>'],
])('the usage names the options that are required: %j', async (words, options) => {
  const [usage] = (await place.output([...words, '--help'])).split('\n');
  expect(usage).toBe(`Usage: parley ${words.join(' ')} ${options} [options]`);
});

test('the text of every page fits into 40 columns, and command lines stay whole', async () => {
  const narrow = await buildProgram([], '', () => async () => {}, {
    getOutHelpWidth: () => 40,
    getErrHelpWidth: () => 40,
  });
  const commands: Command[] = [];
  eachCommand(narrow, (command) => commands.push(command));
  for (const command of commands) {
    const page = outputHelpText(command) + (await helpAppendix(command));
    if (commandPath(command) === 'parley templates')
      expect(page).toContain('\n  git diff | parley chat -t commit --set language=German\n');
    const text = page.split('\n').filter((line) => !/^Usage:|^ {2}\S|^ {6}--/.test(line));
    for (const line of text) expect(line.length, `${commandPath(command)}: ${line}`).toBeLessThanOrEqual(40);
  }
});

test('every argument has a description, and -y is short for --yes everywhere', async () => {
  const program = await buildProgram([], '', () => async () => {}, {});
  eachCommand(program, (command) => {
    const path = commandPath(command);
    for (const one of command.registeredArguments)
      expect(one.description, `${path} ${one.name()}`).not.toBe('');
    const yes = command.options.find(({ long }) => long === '--yes');
    if (yes !== undefined) expect(yes.short, path).toBe('-y');
  });
});

describe('topics', () => {
  test('exit-codes names each status with each of its codes', async () => {
    const text = await place.output(['help', 'exit-codes']);
    const codesOf = new Map<number, string[]>();
    for (const part of text.split(/\n(?= {2}\d)/).slice(1)) {
      codesOf.set(Number.parseInt(part, 10), part.match(/\b[A-Z]{2,}(_[A-Z]+)*\b/g) ?? []);
    }
    for (const code of Object.keys(errorKind) as ErrorCode[])
      expect(codesOf.get(exitStatusOf(code))).toContain(code);
    expect([...codesOf.keys()]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 129, 130, 143]);
  });

  test('environment names each variable of Parley that the source reads, and no other', async () => {
    const text = await place.output(['help', 'environment']);
    const read = new Set<string>();
    for (const { path, text: source } of sourceFiles('src')) {
      if (path.includes('cli/manual/')) continue;
      for (const name of source.match(/\bPARLEY_[A-Z_]+\b/g) ?? []) read.add(name);
    }
    expect([...read].sort()).toEqual(
      variables
        .map(({ name }) => name)
        .filter((name) => name.startsWith('PARLEY_'))
        .sort(),
    );
    for (const { name } of variables) expect(text.replace(/\s+/g, ' ')).toContain(` ${name} `);
  });

  test('environment names every other variable that the source reads, but those of the terminal and the system', async () => {
    const ofSystem =
      /^(HOME|USER|APPDATA|LOCALAPPDATA|TMUX|STY|XTERM_VERSION|TERM_PROGRAM|DISPLAY|WAYLAND_DISPLAY)$/;
    const names = new Set((await place.output(['help', 'environment'])).match(/\b[A-Z][A-Z_]+\b/g));
    const unnamed = sourceFiles('src').flatMap(({ text }) =>
      [...text.matchAll(/\benv(?:\.|\[')([A-Z][A-Z_]+)\b/g)]
        .map(([, name = '']) => name)
        .filter((name) => !names.has(name) && !ofSystem.test(name)),
    );
    expect(unnamed).toEqual([]);
  });

  test('the examples of formatting work as they stand', async () => {
    const text = await place.output(['help', 'formatting']);
    const examples = text.slice(text.indexOf('Examples\n')).match(/^ {2}parley .*$/gm) ?? [];
    expect(examples.length).toBe(5);
    const ids = 'a=$(parley sessions create); b=$(parley sessions create);';
    const { status, out, err } = await place.shell(`set -e; ${ids}${examples.join('\n')}`);
    expect({ status, err: err.replace(/^Created a store.*\n/, '') }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^eliza\necho\nses_\w+\nses_\w+\n.+\nses_\w+\ttrue\nses_\w+\ttrue\n/);
  });

  test('docs/scripts.md describes each status in the same way', () => {
    const document = readFileSync(fileURLToPath(new URL('../../docs/scripts.md', import.meta.url)), 'utf8');
    const statuses = [...document.matchAll(/^\| (\d[\d, ]*) \| /gm)].flatMap(([, list = '']) =>
      list.split(', ').map(Number),
    );
    const all = new Set<number>([...Object.values(exitStatusOfKind), 0, 3, 129, 130, 143]);
    expect(statuses.sort((a, b) => a - b)).toEqual([...all].sort((a, b) => a - b));
  });
});
