// Which input of a terminal was typed and which was pasted, for any chunks.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PasteReader } from '../../../src/cli/repl/paste-reader.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';
import { runs } from '../../support/runs.ts';

const start = '\x1b[200~';
const end = '\x1b[201~';

function reader() {
  const inputs: string[][] = [];
  const timers = new Set<() => void>();
  const startTimer: StartTimer = (_milliseconds, action) => {
    timers.add(action);
    return () => timers.delete(action);
  };
  const pastes = new PasteReader({
    onTyped: (text) => inputs.push(['typed', text]),
    onPasted: (text) => inputs.push(['pasted', text]),
    startTimer,
    startReadingTimer: startTimer,
  });
  /** A pause that is longer than every timer. */
  const pause = () => {
    for (const action of timers) {
      timers.delete(action);
      action();
    }
  };
  return { inputs, pause, take: (text: string) => pastes.take(text) };
}

/** Joins pastes that arrive together. */
function joined(inputs: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return inputs.reduce<string[][]>((all, [kind = '', text = '']) => {
    const last = all.at(-1);
    if (last?.[0] === kind) last[1] += text;
    else all.push([kind, text]);
    return all;
  }, []);
}

describe('a paste in brackets', () => {
  const paste = fc
    .string({
      unit: fc.constantFrom('a', '\r', '\x1b', '[', 'O', '2', '0', '1', '~', '\x03', '/', 'é'),
      minLength: 1,
    })
    .filter((text) => !`${text}${end}`.slice(0, -1).includes(end) && !text.includes(start));

  it('is read completely, with the typed text around it, for any chunks', () => {
    fc.assert(
      fc.property(paste, fc.array(fc.nat(40)), (text, cuts) => {
        const { inputs, pause, take } = reader();
        let rest = `x${start}${text}${end}y`;
        for (const cut of cuts) {
          const piece = rest.slice(0, cut);
          // Ctrl-C in a chunk of its own ends the paste.
          if (piece === '\x03') break;
          take(piece);
          rest = rest.slice(cut);
        }
        take(rest);
        pause();
        expect(joined(inputs)).toEqual([
          ['typed', 'x'],
          ['pasted', text],
          ['typed', 'y'],
        ]);
      }),
      { numRuns: runs(500, 15_000) },
    );
  });

  it.each(['abc \x1b[', 'abc \x1bO', 'abc \x1b', 'abc \x1b[2', 'abc \x1b[201'])('may end with %j', (text) => {
    const { inputs, take } = reader();
    take(`${start}${text}${end}`);
    take('\x03');
    expect(inputs).toEqual([
      ['pasted', text],
      ['typed', '\x03'],
    ]);
  });

  it('does not end at a closing bracket that it contains', () => {
    const { inputs, take } = reader();
    take(`${start}hi ${end}\r/quit\r${end}x${start}2${end}`);
    expect(inputs).toEqual([
      ['pasted', `hi ${end}\r/quit\r`],
      ['typed', 'x'],
      ['pasted', '2'],
    ]);
  });

  it('without its end ends with Ctrl-C', () => {
    const { inputs, take } = reader();
    take(`${start}half`);
    take('\x03');
    take('y');
    expect(inputs).toEqual([
      ['pasted', 'half'],
      ['typed', '\x03'],
      ['typed', 'y'],
    ]);
  });
});

describe('without brackets', () => {
  it.each([
    ['lines that come at once', '/delete\rsecond line\r'],
    ['lines behind an empty one', '/delete\r\rsecond'],
    ['very much at once', 'x'.repeat(1000)],
  ])('%s are pasted', (_what, text) => {
    const { inputs, take } = reader();
    take(text);
    expect(inputs).toEqual([['pasted', text]]);
  });

  it.each(['/delete\r', 'one\x1b\rtwo', '\r\r', 'one\r\x03', '\x1b[A\x1b[B\r\x1b[A', 'a word', '\x1b[1;5D'])(
    '%j is typed',
    (text) => {
      const { inputs, take } = reader();
      take(text);
      expect(inputs).toEqual([['typed', text]]);
    },
  );

  it('text that follows a paste without a pause belongs to it, except for a key', () => {
    const { inputs, pause, take } = reader();
    take('one\rtwo');
    take('\r');
    take('\x03');
    pause();
    take('\r');
    expect(inputs).toEqual([
      ['pasted', 'one\rtwo'],
      ['pasted', '\r'],
      ['typed', '\x03'],
      ['typed', '\r'],
    ]);
  });

  it.each([
    ['Ctrl-C', '\x03', ['typed', '\x03']],
    ['a paste in brackets', `${start}y${end}`, ['pasted', 'y']],
  ])('text that follows a paste does not belong to it after %s', (_what, text, expected) => {
    const { inputs, take } = reader();
    take('one\rtwo');
    take(text);
    take('sent\r');
    expect(inputs.slice(1)).toEqual([expected, ['typed', 'sent\r']]);
  });

  it('keys in a paste are keys, and line ends are no Enter', () => {
    const { inputs, take } = reader();
    take('my next\rquestion\x7f\x7f\r\x1b[A\r');
    expect(inputs).toEqual([
      ['pasted', 'my next\rquestion'],
      ['typed', '\x7f\x7f'],
      ['pasted', '\r'],
      ['typed', '\x1b[A'],
      ['pasted', '\r'],
    ]);
  });

  it('Escape alone is a key after a pause', () => {
    const { inputs, pause, take } = reader();
    take('\x1b');
    expect(inputs).toEqual([]);
    pause();
    expect(inputs).toEqual([['typed', '\x1b']]);
  });
});
