// Slash commands as typed, and their completion with Tab.
import { describe, expect, test } from 'vitest';
import { type CompletionChoice, complete } from '../../../src/cli/repl/completion.ts';
import { LineCompletion } from '../../../src/cli/repl/line-completion.ts';
import { emptyLine, insertPaste, insertText } from '../../../src/cli/repl/line-state.ts';
import { resolveSlash } from '../../../src/cli/repl/slash-line.ts';
import { mentionsOf, parseLine } from '../../../src/cli/repl/typed-line.ts';
import { processorMs } from '../../support/processor-time.ts';

const names =
  'help mode new sessions resume title history retry delete restore copy save file edit status quit exit';
const commands = names.split(' ').map((name) => ({ name }));

describe('a slash line', () => {
  test.each([
    ['/help', 'help', ''],
    ['/h', null, null],
    ['/he', 'help', ''],
    ['/q', 'quit', ''],
    ['/m  eliza ', 'mode', 'eliza'],
    ['/title Two words', 'title', 'Two words'],
    ['/title two\nlines', 'title', 'two\nlines'],
    ['/re', null, null],
    ['/', null, null],
    ['/ help', null, null],
    ['/HELP', null, null],
  ])('%j is %s with %j', (line, name, argument) => {
    const resolved = resolveSlash(line, commands);
    const found = resolved.kind === 'command' ? [resolved.command.name, resolved.argument] : [null, null];
    expect(found).toEqual([name, argument]);
  });

  test('with very many blanks is read at once', () => {
    const title = `a${' '.repeat(500_000)}b`;
    const begun = processorMs();
    expect(resolveSlash(`/title ${title} `, commands)).toMatchObject({ kind: 'command', argument: title });
    expect(processorMs() - begun).toBeLessThan(1000);
  });

  test.each([
    ['/hlep', 'Did you mean /help?'],
    ['/mdoe x', 'Did you mean /mode?'],
    ['/eixt', 'Did you mean /exit?'],
    ['/resmue', 'Did you mean /resume?'],
    ['/HELP', 'Did you mean /help?'],
    ['/etc/passwd', '/help lists the commands.'],
    ['/', '/help lists the commands.'],
    ['/bye', 'Did you mean /quit?'],
    ['/clear', 'Did you mean /new?'],
    ['/load x', 'Did you mean /resume?'],
    ['/h', '/h is ambiguous: /help, /history.'],
  ])('%s is reported: %s', (line, words) => {
    expect(resolveSlash(line, commands)).toMatchObject({
      kind: 'refused',
      problem: expect.stringContaining(words),
    });
  });

  test('with an unexpected argument is refused, except for /help and /quit', () => {
    const bare = ['undo', 'help', 'quit'].map((name) => ({ name, argument: '' }));
    expect(resolveSlash('/undo 2', bare)).toEqual({
      kind: 'refused',
      problem: '/undo takes no argument. Nothing was done.',
    });
    expect(resolveSlash('/undo ', bare)).toMatchObject({ kind: 'command' });
    for (const line of ['/help undo', '/quit now'])
      expect(resolveSlash(line, bare)).toMatchObject({ kind: 'command' });
  });

  test('with a name that is a prefix of another one runs the exact name', () => {
    const both = [{ name: 'new' }, { name: 'news' }];
    expect(resolveSlash('/new', both)).toMatchObject({ kind: 'command', command: { name: 'new' } });
  });
});

describe('Tab', () => {
  const choices = async (beginning: string): Promise<readonly CompletionChoice[]> =>
    ['eliza', 'echo']
      .filter((name) => name.startsWith(beginning))
      .map((name) => ({ value: name, label: name }));
  const files = async (beginning: string): Promise<readonly CompletionChoice[]> =>
    ['notes.md', 'my file.md']
      .filter((name) => name.startsWith(beginning))
      .map((name) => ({ value: name, label: name }));
  const completed = commands.map(({ name }) => (name === 'mode' ? { name, choices } : { name }));

  test.each([
    ['/q', '/quit'],
    ['/mo', '/mode '],
    ['/re', '/re'],
    ['/mode el', '/mode eliza'],
    ['/m el', '/m eliza'],
    ['/mode ', '/mode e'],
    ['/mode x', '/mode x'],
    ['/quit now', '/quit now'],
    ['//q', '//q'],
    ['q', 'q'],
    ['', ''],
    ['see @no', 'see @notes.md'],
    ['@"no', '@"notes.md'],
    ['@my', '@my\\ file.md'],
    ['@my\\ f', '@my\\ file.md'],
    ['@"my f', '@"my file.md'],
    ['me@no', 'me@no'],
    ['/mode @no', '/mode @no'],
  ])('makes of %j %j', async (text, expected) => {
    const { from, to, insert } = await complete(text, text.length, completed, files);
    expect(text.slice(0, from) + insert + text.slice(to)).toBe(expected);
  });

  test.each([
    ['@', 'odd @name'],
    ['@', 'odd\u00a0@name'],
    ['@', 'odd\n@name'],
    ['@', 'odd\t@name'],
    ['@', '"odd" @name'],
    ['@"', 'odd @name'],
    ['@"', 'odd" @name'],
    ['@"', 'odd\n@name'],
    ['@', 'o\x1bdd'],
  ])('after %j, a file named %j adds no other file', async (text, name) => {
    const { insert } = await complete(text, text.length, [], async () => [{ value: name, label: name }]);
    const line = text + insert + (text.endsWith('"') ? '"' : '');
    expect([[], ['""'], [name]]).toContainEqual(mentionsOf(parseLine(line)));
    expect(insert).not.toMatch(/\p{Cc}/u);
  });

  test('completes no path after a pasted @, and no name after a pasted slash', async () => {
    const completion = new LineCompletion((text, cursor) => complete(text, cursor, completed, files));
    for (const pasted of ['see @no', '/q']) {
      const state = insertPaste(emptyLine, pasted);
      expect(await completion.run(state)).toMatchObject({ kind: 'nothing', state });
    }
    const state = insertPaste(insertText(emptyLine, '@'), 'no');
    expect(await completion.run(state)).toMatchObject({ kind: 'inserted', state: { text: '@notes.md' } });
  });

  test('completes a path beside a folded paste, and no command with one', async () => {
    const completion = new LineCompletion((text, cursor) => complete(text, cursor, completed, files));
    const long = 'line\n'.repeat(50);
    const beside = insertText(insertPaste(emptyLine, long), ' @no');
    const completedPath = insertText(insertPaste(emptyLine, long), ' @notes.md').text;
    expect(await completion.run(beside)).toMatchObject({ kind: 'inserted', state: { text: completedPath } });
    for (const before of ['/mode ', '@']) {
      const state = insertPaste(insertText(emptyLine, before), long);
      expect((await completion.run(state)).state).toEqual(state);
    }
  });

  test('completes before the text behind the cursor', async () => {
    const { from, to, insert } = await complete('/mode el later', 8, completed, files);
    expect({ from, to, insert }).toEqual({ from: 6, to: 8, insert: 'eliza' });
  });

  test('shows the choices', async () => {
    expect((await complete('/re', 3, completed, files)).choices).toEqual(['/resume', '/retry', '/restore']);
    expect((await complete('/mode e', 7, completed, files)).choices).toEqual(['eliza', 'echo']);
  });
});
