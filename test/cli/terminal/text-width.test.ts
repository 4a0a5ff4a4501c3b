// The width of common scripts is computed by code unit, with the same result as by the exact methods.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { graphemesOf, segmentsOf } from '../../../src/cli/terminal/graphemes.ts';
import { textWidth } from '../../../src/cli/terminal/text-width.ts';

test('every unit of the basic plane has its exact width, alone and between letters', () => {
  const wrong: string[] = [];
  for (let unit = 0x20; unit < 0xffff; unit += 1) {
    const character = String.fromCharCode(unit);
    for (const text of [character, `a${character}b`, `漢${character}字`])
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
