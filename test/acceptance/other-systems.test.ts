// What a developer does first, on Linux that looks like another system. No test runs on those systems themselves.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { environmentOf, type OtherSystem } from '../support/other-system.ts';
import { Place } from '../support/parley.ts';

const systems: readonly OtherSystem[] = ['darwin', 'freebsd', 'win32'];

describe.each(systems)('on %s', (system) => {
  const place = new Place();
  const env = environmentOf(system, place.path);
  afterAll(() => place.remove());
  const run = (...words: readonly string[]) => place.output(words, { env });
  const fed = (stdin: string, ...words: readonly string[]) => place.output(words, { env, stdin });

  test('a chat is continued, found, exported, deleted, restored and backed up', async () => {
    expect(await run('chat', 'My name is Ada.')).toBe('Pleased to meet you, Ada. What brings you here?\n');
    expect(await run('chat', '-c', 'What is my name?')).toBe('Your name is Ada.\n');
    expect(await fed('from a pipe', 'chat', '-m', 'echo')).toBe('from a pipe\n');
    expect((await run('sessions', 'search', 'Ada')).trimEnd().split('\n')).toHaveLength(1);
    const lines = await run('sessions', 'export', '--all', '--format', 'json');
    await run('sessions', 'export', '--all', '-o', `${place.path}/exported/`);
    await run('store', 'backup', 'a backup');
    expect(await run('store', 'verify', 'a backup')).toContain('2 sessions, 6 messages');
    await run('sessions', 'delete', '--all', '--yes');
    expect(await run('sessions', 'list')).toBe('');
    await run('sessions', 'restore', '--last');
    expect(await fed(lines, 'sessions', 'import', '-')).toMatch(/^(unchanged ses_\w+\n){2}$/);
    const doctor = await run('doctor');
    expect(doctor).not.toMatch(/^FAIL/m);
    // Modes are no statement about access on Windows.
    if (system === 'win32') return;
    await run('store', 'restore', 'a backup', '--replace');
    expect((await run('sessions', 'list', '--ids')).trimEnd().split('\n')).toHaveLength(2);
  });

  test('a batch is resumed, and settings and templates are written', async () => {
    const results = join(place.path, 'answers.ndjson');
    await fed('one\n', 'chat', '--batch', '-m', 'echo', '--resume', results);
    await fed('one\ntwo\n', 'chat', '--batch', '-m', 'echo', '--resume', results);
    expect(readFileSync(results, 'utf8').trimEnd().split('\n')).toHaveLength(2);
    await run('modes', 'add', 'local', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm');
    expect(await run('modes', 'list')).toContain('local');
    await fed('Say {{input}}', 'templates', 'edit', 'say');
    expect(await run('chat', '-n', '-m', 'echo', '-t', 'say', 'hi')).toBe('Say hi\n');
    expect(existsSync(join(place.configDirectory, 'templates', 'say.md'))).toBe(true);
  });

  test('the REPL converses, and Windows has no signal that suspends it', async () => {
    const screen = place.screen(['repl', '-m', 'echo'], { env });
    await screen.stands('echo> ');
    screen.type('Hello\r');
    await screen.stands('echo (Hello)> ');
    if (system === 'win32') screen.type('\x1a');
    screen.type('again\r');
    await screen.until('answered', () => screen.text.endsWith('again\nagain\n\necho (Hello)>'));
    screen.type('\x04');
    expect(await screen.ended).toMatchObject({ status: 0 });
    screen.close();
  });
});
