// A message or command that returns to the prompt is sent as the same kind again; and pasted text stays text, however it is edited.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edit } from '../../../src/cli/repl/line-editor.ts';
import type { LineInput } from '../../../src/cli/repl/line-input.ts';
import { emptyLine, initialLine, type LineState, lineOf } from '../../../src/cli/repl/line-state.ts';
import { plain } from '../../../src/cli/repl/line-text.ts';
import { editableText, submittedLine } from '../../../src/cli/repl/submitted-line.ts';
import { lineFor } from '../../../src/cli/repl/typed-line.ts';
import { runs } from '../../support/runs.ts';

const pieces = [
  '/',
  '//',
  '"',
  '"""',
  '\\',
  ' ',
  '\t',
  '\n',
  'a',
  'title',
  '你',
  '👩‍👩‍👧',
  '@a.ts',
  '@',
  'line\n'.repeat(45),
];
const texts = fc
  .array(fc.constantFrom(...pieces), { maxLength: 12 })
  .map((parts) => parts.join(''))
  .filter((text) => text.trim() !== '');
const paste = (text: string): LineInput => ({ kind: 'paste', text });

function key(name: string, sequence = '\x1b'): LineInput {
  const [, modifier, plain = name] = /^(ctrl|alt)-(.+)$/.exec(name) ?? [];
  return {
    kind: 'key',
    key: { name: plain, ctrl: modifier === 'ctrl', meta: modifier === 'alt', sequence },
  };
}

const typing = (text: string) =>
  [...text].map((character) => (character === '\n' ? key('alt-return') : key('', character)));

function typedIn(
  inputs: readonly LineInput[],
  history: readonly string[] = [],
  state = emptyLine,
): LineState {
  return inputs.reduce((before, input) => edit(before, input, history).state, state);
}

/** The text that Enter sends; null if it sends nothing. */
function sent(state: LineState, history: readonly string[] = []) {
  const { state: next, action } = edit(state, key('return'), history);
  return action === 'submit' ? submittedLine(next) : null;
}

function expectMessage(state: LineState, text: string, history: readonly string[] = []) {
  expect(sent(state, history)).toMatchObject({ text, mayBeCommand: false });
}

describe('a message', () => {
  test.each([
    ['hello', 'hello'],
    ['/title X', '//title X'],
    ['//two', '///two'],
    ['"""doc"""', '"""\n"""doc"""\n"""'],
    ['"""Module."""\nimport x', '"""\n"""Module."""\nimport x\n"""'],
    ['back\\', '"""\nback\\\n"""'],
    ['back\\\\', 'back\\\\'],
    ['/back\\', '"""\n/back\\\n"""'],
    ['"quoted"', '"quoted"'],
    ['me@example.com', 'me@example.com'],
    ['see @a.ts', '"""\nsee @a.ts\n"""'],
  ])('%j returns as %j', (text, line) => {
    expect(lineFor(text)).toBe(line);
  });

  test('is sent unchanged when it returns, from the history, from a search, and once more', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const first = sent(typedIn([paste(text)]));
        expect(first).toMatchObject({ text, mayBeCommand: false, mentions: [] });
        const typed = first?.typed ?? '';
        expectMessage(lineOf(typed), text);
        expectMessage(lineOf(lineFor(text)), text);
        for (const line of [typed, lineFor(text)]) expect(sent(lineOf(line))?.mentions).toEqual([]);
        expectMessage(typedIn([key('up')], [typed]), text);
        expectMessage(typedIn([key('ctrl-r'), ...typing(/\S/u.exec(typed)?.[0] ?? '')], [typed]), text, [
          typed,
        ]);
        expect(sent(lineOf(typed))?.typed).toBe(typed);
        expect(editableText(lineOf(typed))).toBe(text);
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  test('that was typed is sent unchanged when it returns, too; and so is a command', () => {
    fc.assert(
      fc.property(texts, texts, (text, more) => {
        const first = sent(typedIn([...typing(text), paste(more), ...typing(text)]));
        if (first === null) return;
        const again = sent(lineOf(first.typed));
        expect(again?.mayBeCommand).toBe(first.mayBeCommand);
        // White space at the end of a command is ignored.
        const whole = (text = '') => (first.mayBeCommand ? text.trimEnd() : text);
        expect(whole(again?.text)).toBe(whole(first.text));
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  test('names the files after each typed @, also when it returns or comes from the history', () => {
    const named = (line: string) => sent(typedIn(typing(line)))?.mentions;
    expect(named('see @a.ts, @"my notes.md" and @my\\ file')).toEqual(['a.ts,', 'my notes.md', 'my file']);
    expect(named('@~/x')).toEqual(['~/x']);
    expect(named('//x @a.ts')).toEqual(['a.ts']);
    for (const line of ['me@a.ts', '"""@a.ts"""', '/title @a.ts', '@', '@ a.ts', 'x'])
      expect(named(line)).toEqual([]);
    fc.assert(
      fc.property(texts, (text) => {
        const first = sent(typedIn(typing(text)));
        if (first === null) return;
        for (const state of [lineOf(first.typed), typedIn([key('up')], [first.typed])])
          expect(sent(state)?.mentions).toEqual(first.mentions);
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  test('names no file after a pasted @, whatever is typed beside it', () => {
    for (const inputs of [
      [paste('@a.ts')],
      [...typing('see '), paste('@a.ts and more')],
      [paste('@'), ...typing('a.ts')],
      [paste(`${'long\n'.repeat(20)}@a.ts`)],
    ]) {
      const first = sent(typedIn(inputs));
      expect(first?.mentions).toEqual([]);
      expect(sent(lineOf(first?.typed ?? ''))).toMatchObject({ text: first?.text, mentions: [] });
    }
    const beside = sent(typedIn([paste('long\n'.repeat(20)), ...typing('@b.ts')]));
    expect(beside?.mentions).toEqual(['b.ts']);
    const mixed = sent(typedIn([...typing('@b.ts '), paste('@a.ts')]));
    expect(mixed?.mentions).toEqual(['b.ts']);
    expect(sent(lineOf(mixed?.typed ?? ''))).toMatchObject({ text: '@b.ts @a.ts', mentions: [] });
  });

  test('that failed names the same files when it returns, also if a pasted @ is a part of it', () => {
    const parts = fc.oneof(
      texts.map(typing),
      texts.map((text) => [paste(text)]),
    );
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 4 }), (inputs) => {
        const first = sent(typedIn(inputs.flat()));
        if (first === null || first.mayBeCommand) return;
        expect(sent(lineOf(first.returned))).toMatchObject({ text: first.text, mentions: first.mentions });
      }),
      { numRuns: runs(200, 5_000) },
    );
  });

  test('with a long paste beside a typed @ is folded when it is recalled, and keeps its meaning', () => {
    const long = 'line\n'.repeat(50);
    const first = sent(typedIn([paste(long), ...typing('see @b.ts '), paste(long)]));
    const recalled = typedIn([key('up')], [first?.typed ?? '']);
    for (const state of [recalled, lineOf(first?.returned ?? '')]) {
      expect(state.text.length).toBeLessThan(20);
      expect(sent(state)).toMatchObject({ text: `${long}see @b.ts ${long}`, mentions: ['b.ts'] });
    }
  });

  test.each(['/title X', '//lit', '"""block"""', '"""\n  block\n"""', 'plain'])(
    'that was typed as %j returns as it was typed',
    (line) => {
      expect(sent(typedIn(typing(line)))?.typed).toBe(line);
    },
  );

  test('that returns is followed by the input of the meantime, and is sent with it', () => {
    fc.assert(
      fc.property(texts, texts, (text, more) => {
        const state = initialLine(lineFor(text), typedIn([paste(more)]));
        expectMessage(state, `${text}\n${more}`);
      }),
      { numRuns: runs(150, 2_500) },
    );
  });

  test('that returns can be edited at once', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const state = typedIn([key('', '.')], [], lineOf(lineFor(text)));
        expectMessage(state, `${text}.`);
      }),
    );
  });

  test('keeps the blanks and quotes of a paste between typed quotes', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const state = typedIn([...typing('"""'), paste(text)]);
        expect(sent(state)).toBeNull();
        expectMessage(typedIn(typing('"""'), [], state), text);
      }),
    );
  });
});

describe('pasted text', () => {
  test.each([
    ['a kill and a yank', '/title P', ['ctrl-u', 'ctrl-y']],
    ['what is before it is deleted', 'x/title P', ['home', 'delete']],
    ['what is before it is killed', 'x /title P', ['home', 'alt-d', 'delete']],
    ['two characters change places', 'x/title P', ['home', 'right', 'ctrl-t']],
    ['an undone deletion', '/title P', ['home', 'delete', 'ctrl-_']],
    ['the history was looked at', '/title P', ['up', 'down']],
    ['a search was given up', '/title P', ['ctrl-r', 'ctrl-g']],
  ])('is no command after %s', (_what, text, keys) => {
    const state = typedIn(
      [paste(text), ...keys.map((name) => key(name, name === 'ctrl-_' ? '\x1f' : '\x1b'))],
      ['one'],
    );
    expect(plain(state.text)).toContain('/');
    expect(sent(state)?.mayBeCommand).toBe(false);
  });

  test('is a command once a slash is typed before it', () => {
    expect(sent(typedIn([paste('quit'), key('home'), ...typing('/')]))).toMatchObject({
      text: '/quit',
      mayBeCommand: true,
    });
    const killed = typedIn([paste('x/title P'), key('ctrl-u'), ...typing('/title '), key('ctrl-y')]);
    expect(sent(killed)).toMatchObject({ text: '/title x/title P', mayBeCommand: true });
  });

  const names = 'left right up down home end backspace delete escape return alt-return'.split(' ');
  const controls = [...'abdefghknprtuwy'].map((letter) => `ctrl-${letter}`);
  const alts = [...'bdf', 'backspace'].map((letter) => `alt-${letter}`);
  const pastes = ['/title P', '//title P', 'x/t', '/', '"""/t"""', '"""', '\n/t\\', '/t\n'.repeat(50)];
  const moving = ['ctrl-u', 'ctrl-y', 'ctrl-t', 'home', 'delete', 'backspace', 'alt-backspace', 'ctrl-a'];
  const keys = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...names, ...controls, ...alts).map((name) => key(name)) },
    { weight: 4, arbitrary: fc.constantFrom(...moving).map((name) => key(name)) },
    { weight: 1, arbitrary: fc.constant(key('_', '\x1f')) },
    { weight: 1, arbitrary: fc.constantFrom('a', ' ', '"', '\\', 't', '你').map((text) => key('', text)) },
    { weight: 1, arbitrary: fc.constantFrom(...pastes).map(paste) },
  );
  const history = ['one', '//title P', '"""\n/title P\n"""', 'x/title P', '//t\n'.repeat(60)];

  test('is never a command, whatever keys except a typed slash edit it, also in lines of the history', () => {
    fc.assert(
      fc.property(fc.array(keys, { minLength: 3, maxLength: 40 }), (inputs) => {
        let state = emptyLine;
        let lines: readonly string[] = history;
        for (const input of inputs) {
          const { state: next, action } = edit(state, input, lines);
          state = next;
          expect(submittedLine(state).mayBeCommand).toBe(false);
          if (action === 'submit') {
            lines = [...lines, submittedLine(state).typed];
            state = lineOf(submittedLine(state).typed, state);
          }
        }
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  const withAt = ['@a', 'x@a', '@', '@"a', ' @a @a', '@a\\ @a', 'x\n@a', '@a\n'.repeat(50), '"""', '\\'];
  const changes = fc.oneof(keys, fc.constantFrom(...withAt).map(paste));

  test('names no file, whatever keys except a typed @ edit it, also in lines of the history', () => {
    fc.assert(
      fc.property(fc.array(changes, { minLength: 3, maxLength: 40 }), (inputs) => {
        let state = emptyLine;
        let lines: readonly string[] = [];
        for (const input of inputs) {
          const { state: next, action } = edit(state, input, lines);
          expect(submittedLine(next).mentions).toEqual([]);
          state = action === 'submit' ? lineOf('', next) : next;
          if (action === 'submit') lines = [...lines, submittedLine(next).typed];
        }
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  test('names no file in a line of the history that also names one, whatever is removed before its @', () => {
    const line = sent(typedIn([paste('me@a.ts '), ...typing('@b.ts')]))?.typed ?? '';
    const state = typedIn([key('up'), key('home'), key('delete'), key('delete')], [line]);
    expect(sent(state)).toMatchObject({ text: '@a.ts @b.ts', mentions: ['b.ts'] });
  });
});
