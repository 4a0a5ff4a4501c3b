// The body of a template: its variables, their values, and that no inserted text is read again.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BodyFault,
  fillTemplateBody,
  parseTemplateBody,
  variablesOf,
} from '../../src/config/template-body.ts';

const fill = (text: string, values: Readonly<Record<string, string>>, input: string | null) =>
  fillTemplateBody(parseTemplateBody(text), new Map(Object.entries(values)), input);

describe('a body', () => {
  test.each([
    ['Say {{input}}!', {}, 'hi', 'Say hi!'],
    ['To {{who:all}} and {{who}}', {}, null, 'To all and all'],
    ['To {{ who : all of you }}', {}, null, 'To all of you'],
    ['To {{who:all}}', { who: '' }, null, 'To '],
    ['{{input:nothing}}', {}, null, 'nothing'],
    ['Explain:', {}, 'this', 'Explain:\n\nthis'],
    ['', {}, 'this', 'this'],
    ['{"a":{{input}}}}', {}, '1', '{"a":1}}'],
    ['\\{{who}} { {who}', {}, null, '{{who}} { {who}'],
  ])('%j with %j and %j says %j', (text, values, input, problem) => {
    expect(fill(text, values, input)).toEqual({ kind: 'text', text: problem });
  });

  test('names the first variable without a value, and its line', () => {
    expect(fill('{{a:1}}\n{{b}} {{input}}', {}, 'x')).toEqual({
      kind: 'missing',
      variable: { name: 'b', default: null, line: 1 },
    });
  });

  test.each(['{{', 'a\n{{ two words }}', 'a\n{{1}}', 'a\n{{name:no end'])(
    'refuses %j, and names the line',
    (text) => {
      const line = text.split('\n').length - 1;
      expect(() => parseTemplateBody(text)).toThrow(new BodyFault(line, 'this {{ does not begin a variable'));
    },
  );

  test('never reads inserted text as template', () => {
    const text = fc.string({ unit: fc.constantFrom('{{', '}}', 'input', 'who', ':', '\\', 'x', '\n') });
    fc.assert(
      fc.property(text, text, (who, input) => {
        expect(fill('<{{who}}|{{input}}|{{who}}>', { who }, input)).toEqual({
          kind: 'text',
          text: `<${who}|${input}|${who}>`,
        });
      }),
    );
  });

  test('lists each variable once, with the default of any of its places', () => {
    const names = variablesOf(parseTemplateBody('{{b}} {{a}} {{b:1}}')).map(({ name, default: usual }) => [
      name,
      usual,
    ]);
    expect(names).toEqual([
      ['b', '1'],
      ['a', null],
    ]);
  });
});
