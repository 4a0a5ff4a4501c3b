// A value of 64 KiB in each place of a command line: the error names its beginning, in a few lines.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const word = 'x'.repeat(64 * 1024);
/** The limit for a value of the user, and for a path, which may have 4,096 characters. */
const [ofName, ofPath] = [700, 5000];

test.each<[string, readonly string[], number]>([
  ['a command', [word], ofName],
  ['a command of spaces', [`${'x '.repeat(32 * 1024)}y`], ofName],
  ['a command with a quote', [`x'${word}`], ofPath],
  ['a command of a group', ['sessions', word], ofName],
  ['a command that help is asked for', ['help', word], ofName],
  ['a second command that help is asked for', ['help', 'sessions', word], ofName],
  ['an option', [`--${word}`], ofName],
  ['an option with a value', [`--no-such=${word}`], ofName],
  ['a short option', [`-${word}`], ofName],
  ['a profile', ['--profile', word, 'models'], ofName],
  ['a profile to use', ['profiles', 'use', word], ofName],
  ['a profile to log in', ['login', '--profile', word, '--url', 'http://127.0.0.1:9', '--key-stdin'], ofName],
  ['a mode', ['chat', '-n', '-m', word, 'hi'], ofName],
  ['a mode to show', ['modes', 'show', word], ofName],
  ['a mode to make', ['modes', 'add', word, '--model', 'm'], ofName],
  ['a mode by default', ['modes', 'default', word], ofName],
  ['a session', ['sessions', 'get', word], ofName],
  ['a session to go on with', ['chat', '-s', word, 'hi'], ofName],
  ['a session to rename', ['sessions', 'rename', word, 'title'], ofName],
  ['a title', ['chat', '-n', '--title', word, 'hi'], ofName],
  ['an idempotency key', ['chat', '-n', '--idempotency-key', word, 'hi'], ofName],
  ['a batch', ['sessions', 'restore', '--batch', word], ofName],
  ['a batch to go on with', ['sessions', 'delete', '--resume', word], ofPath],
  ['a key to revoke', ['keys', 'revoke', word], ofName],
  ['a project', ['keys', 'create', '--project', word], ofName],
  ['a URL', ['--url', word, 'models'], ofName],
  ['a URL of a scheme', ['--url', `http://${word}`, 'models'], ofName],
  ['a number', ['--timeout', word, 'models'], ofName],
  ['a page', ['sessions', 'list', '--limit', word], ofName],
  ['a cursor', ['sessions', 'list', '--cursor', word], ofName],
  ['an age', ['sessions', 'list', '--older-than', word], ofName],
  ['an age to delete by', ['sessions', 'delete', '--older-than', word, '--yes'], ofName],
  ['a title to match', ['sessions', 'list', '--title-match', `[${word}`], ofName],
  ['a search', ['sessions', 'search', word], ofName],
  ['a form', ['sessions', 'export', '--all', '--format', word], ofName],
  ['a code block', ['chat', '-n', `--extract-code=${word}`, 'hi'], ofName],
  ['a shell', ['completion', word], ofName],
  ['a file', ['chat', '-n', '-f', word, 'hi'], ofPath],
  ['a file of a certificate', ['--ca', word, '--url', 'https://127.0.0.1:9', 'models'], ofPath],
  ['a file to import', ['sessions', 'import', word], ofPath],
  ['a file to write', ['sessions', 'export', '--all', '-o', word], ofPath],
  ['a host', ['serve', '--host', word], ofName],
])('the error about %s has a few lines', async (_, args, maxLength) => {
  const { status, out, err } = await place.parley(args, { stdin: '', env: { PARLEY_API_KEY: 'k' } });
  expect(err.length).toBeLessThan(maxLength);
  expect(out.length).toBeLessThan(ofPath);
  if (status !== 0) expect(err).toMatch(/^parley: .*\([A-Z_]+\)$/m);
  const { out: json } = await place.parley([...args, '--json'], { stdin: '', env: { PARLEY_API_KEY: 'k' } });
  expect(json.length).toBeLessThan(ofPath);
});
