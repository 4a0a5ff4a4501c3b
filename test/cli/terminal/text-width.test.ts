// The width of common scripts is computed by code unit, with the same result as by the exact methods.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { graphemesOf, segmentsOf } from '../../../src/cli/terminal/graphemes.ts';
import { textWidth } from '../../../src/cli/terminal/text-width.ts';
import { processorMs } from '../../support/processor-time.ts';

test('every unit of the basic plane has its exact width, alone and between letters', () => {
  const wrong: string[] = [];
  for (let unit = 0x20; unit < 0xffff; unit += 1) {
    const character = String.fromCharCode(unit);
    for (const text of [character, `a${character}b漢${character}字`])
      if (textWidth(text) !== stringWidth(text)) wrong.push(`${unit.toString(16)} ${JSON.stringify(text)}`);
  }
  expect(wrong).toEqual([]);
});

test('every unit of the basic plane is segmented as by the exact method, alone and between letters', () => {
  const wrong: string[] = [];
  for (let unit = 0x20; unit < 0xffff; unit += 1) {
    const text = `a${String.fromCharCode(unit)}字${String.fromCharCode(unit)}`;
    const exact = Array.from(segmentsOf(text), ({ segment }) => segment);
    if (graphemesOf(text).join('|') !== exact.join('|'))
      wrong.push(`${unit.toString(16)} ${JSON.stringify(text)}`);
  }
  expect(wrong).toEqual([]);
});

test('a long text has the width of its graphemes, wherever it is divided for that', () => {
  const grapheme = fc.constantFrom(
    ...[
      'a',
      ' ',
      'ก',
      'e\u0301',
      '漢',
      '한',
      '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
      '\u{1f44d}\u{1f3fd}',
    ],
    ...['\u{1f1e9}\u{1f1ea}', 'क्षि', 'ﾊﾞ', '\x1b[1;35m', '\x1b[0m'],
  );
  fc.assert(
    fc.property(fc.array(grapheme, { minLength: 1000, maxLength: 1500 }), (graphemes) => {
      const text = graphemes.join('');
      expect(textWidth(text)).toBe(stringWidth(text));
    }),
    { numRuns: 20 },
  );
});

test('the time to measure a text of any script grows with its length', () => {
  const onceOf = (text: string) => {
    const start = processorMs();
    textWidth(text);
    return processorMs() - start;
  };
  // The least of three, because the collector of garbage may run during one of them.
  const cost = (length: number) => Math.min(...Array.from({ length: 3 }, () => onceOf('ก'.repeat(length))));
  cost(1000);
  const short = Math.max(1, cost(8000));
  expect(cost(80_000)).toBeLessThan(30 * short);
});
