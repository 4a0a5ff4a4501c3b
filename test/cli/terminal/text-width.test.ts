// Common scripts are measured by code unit, as the exact measurement measures them.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
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
