// Templates: files that are created, listed, shown and removed, and their use by a chat, a batch and the REPL.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Session } from '../../src/service/session.ts';
import { entered, ReplFixture } from '../cli/repl/repl-fixture.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
const fixture = new ReplFixture();
const folder = join(place.configDirectory, 'templates');

const commit = `---
mode: echo
system: You write commit messages.
parameters: {temperature: 0.2}
title: A commit
---
In {{language:English}}, for {{who}}:

{{input}}
`;

beforeAll(async () => {
  await place.output(['models']);
  await place.output(['templates', 'edit', 'commit'], { stdin: commit });
});
afterEach(() => fixture.close());
afterAll(() => place.remove());

const chat = (...words: readonly string[]) => place.parley(['chat', '-n', '-t', ...words]);

test('a template is stored as a file, listed with its variables, shown unchanged, and removed', async () => {
  await place.output(['templates', 'edit', 'short'], { stdin: 'Explain:' });
  expect(readFileSync(join(folder, 'commit.md'), 'utf8')).toBe(commit);
  expect(await place.output(['templates', 'list'])).toBe(
    'commit\techo\tlanguage=English who input\tIn {{language}}, for {{who}}:\nshort\t\t\tExplain:\n',
  );
  expect(await place.output(['templates', 'show', 'commit'])).toBe(commit);
  expect(await place.answer(['templates', 'show', 'commit'])).toEqual({
    name: 'commit',
    path: join(folder, 'commit.md'),
    mode: 'echo',
    system: 'You write commit messages.',
    parameters: { temperature: 0.2 },
    schema: null,
    title: 'A commit',
    variables: [
      { name: 'language', default: 'English' },
      { name: 'who', default: null },
      { name: 'input', default: null },
    ],
  });
  expect((await place.parley(['__complete', '--', 'chat', '-t', ''])).out).toBe('commit\tA commit\nshort\n');
  await place.output(['templates', 'remove', 'short']);
  expect(await place.output(['templates', 'list'])).not.toContain('short');
});

test('edit opens the editor with the file, or with a new one, and stores the result', async () => {
  const editor = join(place.path, 'editor');
  writeFileSync(editor, '#!/bin/sh\ncat "$1" >> "$HOME/seen"\nprintf "%s" "$TEXT" > "$1"\n');
  chmodSync(editor, 0o755);
  const env = { EDITOR: editor, TEXT: 'One {{input}}' };
  expect((await place.binary(['templates', 'edit', 'new'], { env })).status).toBe(0);
  expect(readFileSync(join(folder, 'new.md'), 'utf8')).toBe('One {{input}}\n');
  const faulty = await place.binary(['templates', 'edit', 'new'], { env: { ...env, TEXT: 'Two {{' } });
  expectFailure(faulty, { status: 2, code: 'CONFIG' });
  expect(readFileSync(join(folder, 'new.md'), 'utf8')).toBe('Two {{\n');
  const seen = readFileSync(join(place.path, 'seen'), 'utf8');
  expect(seen).toMatch(/^---\n# mode: NAME\n[\s\S]*\n\{\{input\}\}\nOne \{\{input\}\}\n$/);
  await place.output(['templates', 'remove', 'new']);
});

test('an invalid template on stdin replaces none', async () => {
  await place.output(['templates', 'edit', 'piped'], { stdin: 'Before {{input}}' });
  for (const [stdin, fault] of [
    [
      '---\nmode: [echo\n---\nAfter',
      'line 3: Flow sequence in block collection must be sufficiently indented',
    ],
    ['---\nmode: echo\nAfter', 'line 1: the settings that begin here are not closed'],
    ['After {{', 'line 1: this {{ does not begin a variable'],
  ] as const) {
    const refused = await place.parley(['templates', 'edit', 'piped'], { stdin });
    expectFailure(refused, { status: 2, code: 'CONFIG' });
    expect(refused.err).toContain(`parley: Standard input, ${fault}`);
    expect(refused.err).toMatch(/Nothing was changed\.\n$/);
    expect(readFileSync(join(folder, 'piped.md'), 'utf8')).toBe('Before {{input}}');
  }
  await place.output(['templates', 'remove', 'piped']);
});

test('a linked template stays a link', async () => {
  const target = join(place.path, 'kept.md');
  writeFileSync(target, 'Before');
  symlinkSync(target, join(folder, 'linked.md'));
  await place.output(['templates', 'edit', 'linked'], { stdin: 'After' });
  expect(readFileSync(target, 'utf8')).toBe('After');
  await place.output(['templates', 'remove', 'linked']);
});

test('a chat fills the template with words and stdin, and starts a session with its settings', async () => {
  const { status, out, err } = await place.parley(['chat', '-t', 'commit', '--set', 'who={{input}}', 'Now'], {
    stdin: 'a {{language}}\n',
  });
  expect({ status, out, err }).toEqual({
    status: 0,
    out: 'In English, for {{input}}:\n\nNow\n\na {{language}}\n',
    err: '',
  });
  const last = (await place.answer<{ items: readonly Session[] }>(['sessions', 'list', '--limit', '1']))
    .items[0];
  expect(last).toMatchObject({
    title: 'A commit',
    mode: 'echo',
    system: 'You write commit messages.',
    parameters: { temperature: 0.2 },
  });
});

test('options have precedence over the template, one by one', async () => {
  const options = ['--title', 'Mine', '--param', 'top_p=0.5', '--temperature', '1', '--system', 'Own'];
  const { session_id } = await place.answer<Session>([
    ...['chat', '-n', '-t', 'commit', '--set', 'who=x', ...options, 'y'],
  ]);
  expect(await place.answer<Session>(['sessions', 'get', session_id])).toMatchObject({
    title: 'Mine',
    system: 'Own',
    parameters: { temperature: 1, top_p: 0.5 },
  });
});

test('edit says what starts the editor, on a system without it', async () => {
  const preload = join(place.path, 'no-shell.cjs');
  writeFileSync(
    preload,
    `const processes = require('node:child_process');
     const { spawn } = processes;
     processes.spawn = (program, ...rest) => spawn(program.replace('/bin/', '/no-bin/'), ...rest);`,
  );
  const env = { EDITOR: 'true', NODE_OPTIONS: `--require ${preload}` };
  const refused = await place.parley(['templates', 'edit', 'another'], { env });
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toBe(
    'parley: The editor true cannot be run. (USAGE)\nIt is started by /bin/sh, which cannot be run (ENOENT).\n',
  );
});

test('the schema of a template, a file beside it, applies to the reply', async () => {
  writeFileSync(join(folder, 'number.json'), '{"type":"number"}');
  await place.output(['templates', 'edit', 'number'], {
    stdin: '---\nmode: echo\nschema: number.json\n---\n{{input}}',
  });
  expect(await place.binary(['chat', '-n', '-t', 'number', '12'])).toMatchObject({ status: 0, out: '12\n' });
  expectFailure(await place.binary(['chat', '-n', '-t', 'number', 'twelve']), {
    status: 8,
    code: 'SCHEMA_MISMATCH',
  });
  const batch = await place.binary(['chat', '--batch', '-t', 'number'], { stdin: '13\n' });
  expect(JSON.parse(batch.out)).toMatchObject({ success: true, value: 13 });
  await place.output(['templates', 'remove', 'number']);
});

test('a batch fills the template with each line', async () => {
  const { out } = await place.parley(['chat', '--batch', '-t', 'commit', '--set', 'who=all'], {
    stdin: 'one\n{"message":"two","mode":"echo"}\n',
  });
  const replies = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).data.reply);
  expect(replies).toEqual(['In English, for all:\n\none', 'In English, for all:\n\ntwo']);
  const refused = await place.parley(['chat', '--batch', '-t', 'commit'], { stdin: 'one\n' });
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('The variable who of the template commit has no value');
});

test.each([
  [
    ['commit', 'x'],
    /^parley: The variable who of the template commit has no value \(.*commit\.md\)\. \(USAGE\)\nSet it: --set who=VALUE\n$/,
  ],
  [
    ['commit', '--set', 'who=x'],
    /The variable input of the template commit has no value.*\nPass it as the message/,
  ],
  [['commit', '--set', 'whom=x', 'y'], /has no variable whom .*\nIts variables: language, who\./],
  [['commit', '--set', 'input=x', 'y'], /The variable input cannot be set with --set/],
  [
    ['nope', 'x'],
    /There is no template nope\. \(USAGE\)\nTemplates: commit\. Create it: parley templates edit nope\n/,
  ],
  [['../../etc/passwd', 'x'], /"\.\.\/\.\.\/etc\/passwd" is not a valid template name/],
])('what the template cannot take is refused before anything is sent: %j', async (words, problem) => {
  const refused = await chat(...words);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toMatch(problem);
});

test.each([
  [
    '---\nmode: echo\nmodel: x\n---\nHi',
    /faulty\.md, line 3: model is not a setting of a template\. \(CONFIG\)\nSettings: mode, system,/,
  ],
  ['---\nmode: [echo]\n---\nHi', /faulty\.md, line 2: mode must be a text/],
  ['---\nparameters: 3\n---\nHi', /faulty\.md, line 2: parameters must be names with values/],
  ['---\n- mode\n---\nHi', /faulty\.md, line 2: the settings are not names with values/],
  ['---\nmode: "echo\n---\nHi', /faulty\.md, line \d: /],
  ['---\nmode: echo\nHi', /faulty\.md, line 1: the settings that begin here are not closed/],
  ['---\nmode: echo\n---\n\nHi\n{{a b}}', /faulty\.md, line 6: this \{\{ does not begin a variable/],
  ['\0', /faulty\.md is not text/],
])('a fault of the file is reported with its place: %j', async (text, problem) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'faulty.md'), text);
  const refused = await chat('faulty', 'x');
  expectFailure(refused, { status: 2, code: 'CONFIG' });
  expect(refused.err).toMatch(problem);
  expect(await place.output(['templates', 'list'])).toContain('faulty\tfaulty\t');
  await place.output(['templates', 'remove', 'faulty']);
});

test('/template puts the text at the prompt, or uses it for the next message', async () => {
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 100, rows: 30 }, place);
  await screen.stands('echo> ');
  expect(await entered(screen, '/template commit')).toContain(
    'The variable who of the template commit has no value',
  );
  expect(await entered(screen, '/template commit who=Ada')).toContain(
    'The next message fills the template commit.',
  );
  await screen.stands('echo (A commit) +commit> ');
  expect(await entered(screen, 'a change')).toBe('In English, for Ada:\n\na change');
  await screen.stands('echo (A commit)> ');
  expect(await entered(screen, '/system')).toBe('You write commit messages.');
  screen.type('/template commit who=Bo language=German this\r');
  await screen.stands('  this');
  expect(screen.text).toContain('echo (A commit)> In German, for Bo:');
});
