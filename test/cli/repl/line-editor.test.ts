// The line editor as a pure function: keys in, line out.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placeIn } from '../../../src/cli/repl/history-search.ts';
import { edit } from '../../../src/cli/repl/line-editor.ts';
import type { Action, LineInput } from '../../../src/cli/repl/line-input.ts';
import { emptyLine, type LineState, lineOf } from '../../../src/cli/repl/line-state.ts';
import { plain, unfoldText } from '../../../src/cli/repl/line-text.ts';
import { shownLine } from '../../../src/cli/repl/shown-line.ts';
import { submittedLine } from '../../../src/cli/repl/submitted-line.ts';
import { runs } from '../../support/runs.ts';

/** `^a` is Ctrl-A, `~b` is Alt-B, `<left>` is a named key, and anything else a character. */
function keysOf(text: string): readonly LineInput[] {
  return [...text.matchAll(/\^(.)|~<(\w+)>|~(.)|<(\w+)>|([\s\S])/gu)].map((found) => {
    const [sequence, ctrl, altNamed, alt, named, plain] = found;
    const name = ctrl ?? altNamed ?? alt ?? named ?? (/^[a-z]$/.test(plain ?? '') ? plain : '') ?? '';
    const isText = plain !== undefined;
    return {
      kind: 'key',
      key: {
        name,
        ctrl: ctrl !== undefined,
        meta: alt !== undefined || altNamed !== undefined,
        sequence: isText ? sequence : ctrl === '_' ? '\x1f' : '\x1b',
      },
    };
  });
}

function edited(
  inputs: readonly LineInput[],
  history: readonly string[] = [],
  state: LineState = emptyLine,
): { readonly state: LineState; readonly actions: readonly Action[] } {
  const actions: Action[] = [];
  let current = state;
  for (const input of inputs) {
    const { state: next, action } = edit(current, input, history);
    current = next;
    actions.push(action);
  }
  return { state: current, actions };
}

/** The line with `|` at the cursor. */
function line(keys: string, history: readonly string[] = []): string {
  const { text: edits, cursor } = edited(keysOf(keys), history).state;
  const text = plain(edits);
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

const paste = (text: string): LineInput => ({ kind: 'paste', text });

describe('a key', () => {
  test.each([
    ['abc', 'abc|'],
    ['abc<left><left>x', 'ax|bc'],
    ['abc^ax^ey', 'xabcy|'],
    ['abc^b^b^fx', 'abx|c'],
    ['abc<home><delete>', '|bc'],
    ['abc<left>^d', 'ab|'],
    ['ab<backspace><backspace><backspace>', '|'],
    ['one two-three~b', 'one two-|three'],
    ['one two-three~b~b^d', 'one |wo-three'],
    ['one two^a~f', 'one| two'],
    ['one two-three^w', 'one |'],
    ['one two-three~<backspace>', 'one two-|'],
    ['one two^a~d', '| two'],
    ['one two~b^k', 'one |'],
    ['one two~b^u', '|two'],
    ['one two^w^y^y', 'one twotwo|'],
    ['one two three^w^w^a^y', 'two three|one '],
    ['one two^a~d~d^e^yx', 'one twox|'],
    ['abc^t', 'acb|'],
    ['abc<left>^t', 'acb|'],
    ['abc^_', '|'],
    ['one two^w^_', 'one two|'],
    ['a~<return>b<up>x', 'ax|\nb'],
    ['long line~<return>b<up><end><down>', 'long line\nb|'],
    ['ab~<return>cd^a^u', 'ab\n|cd'],
    ['ab~<return>cd<home><backspace>', 'ab|cd'],
    ['ab~<return>cd<up><home>^k^k', '|cd'],
    ['👩‍👩‍👧é<backspace><backspace>', '|'],
    ['你好<left>x', '你x|好'],
    ['a<f5>^q~xb', 'ab|'],
  ])('of %s makes %s', (keys, expected) => {
    expect(line(keys)).toBe(expected);
  });

  test.each([
    ['abc<return>', 'submit'],
    ['<tab>', 'complete'],
    ['ab^c', 'interrupt'],
    ['^d', 'leave'],
    ['ab^d', 'none'],
    ['^z', 'suspend'],
    ['^l', 'clear-screen'],
    ['a^x^e', 'open-editor'],
    ['a^xe', 'bell'],
    ['a^x^c', 'interrupt'],
    ['<up>', 'bell'],
    ['<down>', 'bell'],
    ['^_', 'bell'],
  ])('of %s asks for %s', (keys, action) => {
    expect(edited(keysOf(keys)).actions.at(-1)).toBe(action);
  });
});

describe('Enter', () => {
  test.each([
    ['one\\<return>two', 'one\ntwo|'],
    ['one\\\\\\<return>', 'one\\\\\n|'],
    ['"""one<return>two<return>', '"""one\ntwo\n|'],
  ])('after %s continues the message', (keys, expected) => {
    expect(line(keys)).toBe(expected);
    expect(edited(keysOf(keys)).actions).not.toContain('submit');
  });

  test.each([
    ['one\\\\', 'one\\\\', false],
    ['"""one"""', 'one', false],
    ['"""<return>/one<return> two<return>"""', '/one\n two', false],
    ['"""<return><return>"""', '', false],
    ['""', '""', false],
    ['say """', 'say """', false],
    ['/title X', '/title X', true],
    ['//lit', '/lit', false],
  ])('after %s sends %j', (keys, text, mayBeCommand) => {
    const { state, actions } = edited(keysOf(`${keys}<return>`));
    expect(actions.at(-1)).toBe('submit');
    expect(submittedLine(state)).toMatchObject({ text, mayBeCommand });
  });

  test('after a paste that ends with a backslash sends the paste unchanged', () => {
    const { state, actions } = edited([paste('cd \\'), ...keysOf('<return>')]);
    expect(actions.at(-1)).toBe('submit');
    expect(submittedLine(state).text).toBe('cd \\');
  });
});

describe('the history', () => {
  const history = ['one', 'two\nlines', 'three'];

  test.each([
    ['<up>', 'three|'],
    ['<up><up>', 'two\nlines|'],
    ['<up><up><up><up>', 'one|'],
    ['draft<up><down>x', 'draftx|'],
    ['draft^p^p^p^n', 'two\nlin|es'],
    ['draft^p^p^p^p^n', 'two\nlines|'],
    ['<up>!<down>', 'three!|'],
    ['^rt', '|'],
    ['^rt<escape>', 'three|'],
    ['^rt^r<escape>', 'two\nlines|'],
    ['^rtwo<backspace><backspace><backspace>one^e', 'one|'],
    ['draft^rzzz<escape>', 'draft|'],
    ['draft^rone^g', 'draft|'],
    ['draft^rone^c', 'draft|'],
    ['^rone<right>!', 'one!|'],
  ])('with %s gives %s', (keys, expected) => {
    expect(line(keys, history)).toBe(expected);
  });

  test('is searched without regard to case, unless the search has a capital', () => {
    const sentences = ['Über alles', 'hello again', 'Hello there'];
    expect(line('^rhello<escape>', sentences)).toBe('Hello there|');
    expect(line('^rHello^r<escape>', sentences)).toBe('Hello there|');
    expect(line('^rhello^r<escape>', sentences)).toBe('hello again|');
    expect(line('^rüber<escape>', sentences)).toBe('Über alles|');
  });

  test('is searched without regard to the composition of accents', () => {
    // macOS gives decomposed names of files.
    const decomposed = '/file cafe\u0301.md';
    expect(line('^rcaf\u00e9<escape>', [decomposed])).toBe(`${decomposed}|`);
    expect(line('^rcafe\u0301<escape>', ['caf\u00e9'])).toBe('caf\u00e9|');
  });

  test.each([
    ['\u00e9a\u00e9b', 'b', 3],
    ['e\u0301ab', 'b', 3],
    ['\u0130stanbul', 'tan', 2],
    ['\u{1f600}\u0130 x', 'x', 4],
    ['abc', 'd', -1],
  ])('finds the place in %j of %j', (text, query, place) => {
    expect(placeIn(text, query)).toBe(place);
  });

  test('sends a found line with Enter', () => {
    const { state, actions } = edited(keysOf('^rtwo<return>'), history);
    expect(actions.at(-1)).toBe('submit');
    expect(submittedLine(state).text).toBe('two\nlines');
  });
});

describe('a paste', () => {
  test('is always text: never a command, never a block, never sent line by line', () => {
    const texts = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());
    fc.assert(
      fc.property(texts, fc.constantFrom('', '/', '//', '"""', '/quit\r\n'), (text, beginning) => {
        const whole = (beginning + text).replace(/\r\n?/g, '\n');
        const { state, actions } = edited([paste(beginning + text), ...keysOf('<return>')]);
        expect(actions).toEqual(['none', 'submit']);
        if (whole !== '') expect(submittedLine(state)).toMatchObject({ text: whole, mayBeCommand: false });
      }),
      { numRuns: runs(100, 2_500) },
    );
  });

  test('that is long is one character for the keys, and sent completely', () => {
    const long = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n');
    const { state } = edited([...keysOf('a'), paste(long), ...keysOf('b<left><left>x')]);
    expect([...state.text]).toHaveLength(4);
    expect(submittedLine(state).text).toBe(`ax${long}b`);
    expect(submittedLine(edited(keysOf('<right><backspace>'), [], state).state).text).toBe('axb');
    const moved = edited(keysOf('^a^k^y^y'), [], state).state;
    expect(submittedLine(moved).text).toBe(`ax${long}bax${long}b`);
  });

  test('that was folded stays folded when it is recalled or found, and is sent completely', () => {
    const long = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n');
    for (const keys of ['<up>', '^rline 7<escape>']) {
      const { state } = edited(keysOf(keys), [long]);
      expect([...state.text]).toHaveLength(1);
      expect(submittedLine(state).text).toBe(long);
    }
    const { state } = edited(keysOf('^rLINE 7'.toLowerCase()), [long]);
    expect(shownLine(state, () => [long]).text).toBe('… line 7 …');
  });

  test('that is long and begins with a slash is a message after a typed slash', () => {
    const long = '/title P\n'.repeat(50);
    const { state } = edited([...keysOf('/'), paste(long)]);
    expect(submittedLine(state)).toMatchObject({ text: long, mayBeCommand: false });
  });

  test('within a typed command is its argument', () => {
    const { state } = edited([...keysOf('/title '), paste('A /title')]);
    expect(submittedLine(state)).toMatchObject({ text: '/title A /title', mayBeCommand: true });
  });

  test('becomes a command after a slash is typed before it', () => {
    const { state } = edited([paste('quit'), ...keysOf('^a/')]);
    expect(submittedLine(state)).toMatchObject({ text: '/quit', mayBeCommand: true });
  });
});

describe('any keys', () => {
  const names = 'left right up down home end backspace delete escape tab return'
    .split(' ')
    .map((name) => `<${name}>`);
  const controls = [...'abdefghknprtuwy_x'].map((letter) => `^${letter}`);
  const alts = [...'bdf'].map((letter) => `~${letter}`).concat('~<return>', '~<backspace>');
  const texts = ['a', 'b', ' ', '/', '"', '\\', '你', '👩‍👩‍👧', 'e\u0301', '-'];
  const key = fc.constantFrom(...names, ...controls, ...alts, ...texts).map((text) => keysOf(text));
  const pasting = fc.constantFrom('x\ny', '👍🏽', 'long\n'.repeat(10)).map((text) => [paste(text)]);
  const inputs = fc
    .array(fc.oneof({ weight: 8, arbitrary: key }, { weight: 1, arbitrary: pasting }), { maxLength: 60 })
    .map((parts) => parts.flat());
  const history = ['one', '/two', 'three\nlines'];

  test('keep the cursor between two code points, and every fold with its paste', () => {
    fc.assert(
      fc.property(inputs, (typed) => {
        let state = emptyLine;
        for (const input of typed) {
          state = edit(state, input, history).state;
          const { text, cursor } = state;
          expect(unfoldText(text.slice(0, cursor), state.pastes).isWellFormed()).toBe(true);
          expect(cursor).toBeLessThanOrEqual(text.length);
          expect(unfoldText(text, state.pastes).isWellFormed()).toBe(true);
        }
      }),
      { numRuns: runs(100, 2_500) },
    );
  });

  test('are undone one after the other, down to the first line', () => {
    const changing = inputs.map((typed) =>
      typed.filter(
        (input) =>
          input.kind === 'paste' || !['up', 'down', 'p', 'n', 'r', '_', 'x'].includes(input.key.name),
      ),
    );
    fc.assert(
      fc.property(changing, (typed) => {
        const { state } = edited(typed);
        const undone = edited(keysOf('^_'.repeat(80)), [], state).state;
        expect(undone.text).toBe('');
      }),
      { numRuns: runs(80, 1_500) },
    );
  });

  test('that kill lose nothing: Ctrl-Y inserts the last killed text', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.constantFrom('^w', '^u', '~<backspace>'), (text, at, kill) => {
        const cursor = Math.min(at, text.length);
        const state: LineState = { ...lineOf(text), cursor };
        const dead = edited(keysOf(kill), [], state).state;
        if (dead.text === state.text) return;
        expect(edited(keysOf('^y'), [], dead).state.text).toBe(state.text);
      }),
      { numRuns: runs(80, 1_500) },
    );
  });
});
