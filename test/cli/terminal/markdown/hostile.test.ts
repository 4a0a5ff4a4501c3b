// Nothing in a reply drives the terminal, whatever Markdown is around it: besides text there are only the colours of our own.
import fc from 'fast-check';
import stripAnsi from 'strip-ansi';
import { describe, expect, test } from 'vitest';
import { MarkdownDocument } from '../../../../src/cli/terminal/markdown/document.ts';
import { textWidth } from '../../../../src/cli/terminal/markdown/text-width.ts';
import { themeOf } from '../../../../src/cli/terminal/markdown/theme.ts';
import { attacks, hostileText, isHarmless, withoutOwnColour } from '../attacks.ts';
import { markdownText } from './markdown-texts.ts';
import { rendered, stringTerminal, writerTo } from './rendering.ts';

/** Where there is no colour there is no escape at all. */
function expectHarmless(written: string, colour: boolean): void {
  expect(isHarmless(colour ? withoutOwnColour(written) : written)).toBe(true);
}

const references = (text: string) => [...text].map((one) => `&#${one.codePointAt(0)};`).join('');
const places: Readonly<Record<string, (attack: string) => string>> = {
  'a paragraph': (attack) => attack,
  'character references': references,
  'strong text': (attack) => `**${attack}**`,
  'a piece of code': (attack) => `\`${attack}\``,
  'a block of code': (attack) => `\`\`\`js\n"${attack}"\n\`\`\``,
  'the info of a fence': (attack) => `~~~${attack}\nx\n~~~`,
  'a heading': (attack) => `# ${attack}`,
  'an address': (attack) => `[text](<${attack}> "${attack}") ![${references(attack)}](x${attack}y)`,
  'an address of references': (attack) => `[${references(attack)}](${references(attack)})`,
  'a table': (attack) =>
    `| ${references(attack)} | ${attack.replaceAll('\n', '')} |\n|---|---|\n| ${references(attack)} | b |`,
  'a quoted list': (attack) => `> 1. ${attack}\n>    ${references(attack)}`,
  HTML: (attack) => `<div>\n${attack}\n<b title="${references(attack)}">`,
};

describe('an attack', () => {
  test.each(Object.keys(attacks))(
    '%s is harmless in every place and every way of cutting it',
    async (name) => {
      const attack = attacks[name] ?? '';
      for (const place of Object.values(places)) {
        const text = place(attack);
        const whole = await rendered([text]);
        expectHarmless(whole, false);
        const coloured = await rendered([text], { colour: true });
        expectHarmless(coloured, true);
        for (let cut = 1; cut < text.length; cut++) {
          expect(await rendered([text.slice(0, cut), text.slice(cut)])).toBe(whole);
        }
        expect(await rendered(text.split(''), { colour: true })).toBe(coloured);
      }
    },
  );

  test('is still to be seen', async () => {
    for (const attack of Object.values(attacks)) {
      expect(await rendered([attack], { columns: 500 })).toMatch(/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/);
    }
    expect(await rendered(['`\x1b]52;c;AAAA\x07`'])).toBe('`\\x1b]52;c;AAAA\\x07`\n');
    expect(await rendered(['a &#27;[31m b &#x202e; c &#10;d'])).toBe('a \\x1b[31m b \\u{202e} c d\n');
  });
});

describe('random text', () => {
  test('lets through only what may be shown, 100,000 times', async () => {
    const texts = fc.array(hostileText, { minLength: 50, maxLength: 50 });
    const property = fc.asyncProperty(
      texts,
      fc.boolean(),
      fc.constantFrom('', '`', '\n\n'),
      async (all, colour, between) => {
        const terminal = stringTerminal({ colour });
        const writer = writerTo(terminal);
        for (const text of all) await writer.write(text + between);
        await writer.endLine();
        expectHarmless(terminal.text(), colour);
      },
    );
    await fc.assert(property, { numRuns: 2_000 });
  }, 120_000);

  test('of Markdown lets through only what may be shown', async () => {
    const property = fc.asyncProperty(markdownText, fc.boolean(), async (text, colour) => {
      expectHarmless(await rendered([text], { colour }), colour);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

/** The renderer behind another filter: one that takes escape sequences out, piece by piece. */
function behindStripping(pieces: readonly string[]): string {
  const document = new MarkdownDocument({
    columns: () => 80,
    theme: themeOf(false),
    measure: textWidth,
    highlighting: () => null,
  });
  return pieces.map((piece) => document.push(stripAnsi(piece))).join('') + document.end();
}

test('stripping escape sequences instead fails the same assertion', () => {
  const survivors = Object.values(attacks).filter((attack) => {
    try {
      for (let cut = 0; cut < attack.length; cut++) {
        expectHarmless(behindStripping([attack.slice(0, cut), attack.slice(cut)]), false);
      }
      return false;
    } catch {
      return true;
    }
  });
  expect(survivors.length).toBeGreaterThan(35);
});
