// Random Markdown with every element, nested and incomplete.
import fc from 'fast-check';

const words = fc.constantFrom(
  ...'the quick fox jumps over a lazy dog while snake_case and 2*3*4 stay, so:'.split(' '),
  ...[
    '日本語の文章です。',
    '「引用」と',
    '👩‍👩‍👧',
    '👍🏽',
    'e\u0301tude',
    '한국어',
    'https://example.com/a_(b)?c=d&e',
    'www.example.com',
  ],
  ...[
    '&amp;',
    '&#27;[2J',
    '&#x1b;',
    '&nosuch;',
    '&#10;',
    '\\*',
    '\\',
    '!',
    '#',
    '>',
    '|',
    '-',
    '1.',
    '`',
    '``',
    '*',
    '**',
    '***',
  ],
  ...[
    '_',
    '__',
    '~',
    '~~',
    '[',
    ']',
    '](',
    '<',
    '<b>',
    '</b>',
    '\x1b[31m',
    '\u202e',
    '\ud83d',
    '\ude00',
    '\t',
    '  ',
  ],
  'a'.repeat(90),
);
const phrase = fc.array(words, { minLength: 1, maxLength: 5 }).map((all) => all.join(' '));

const inline: fc.Arbitrary<string> = fc.letrec<{ inline: string; span: string }>((tie) => ({
  inline: fc
    .array(fc.oneof({ weight: 3, arbitrary: phrase }, tie('span')), { minLength: 1, maxLength: 2 })
    .map((all) => all.join(' ')),
  span: fc.oneof(
    { depthSize: 'small' },
    phrase.map((text) => `\`${text}\``),
    fc
      .tuple(fc.constantFrom('*', '**', '***', '_', '__', '~~', '~'), tie('inline'))
      .map(([mark, text]) => mark + text + mark),
    fc
      .tuple(tie('inline'), fc.constantFrom('https://e.com/x_y', '</u v>', 'u "title"', 'u(v)w', ''))
      .map(([text, to]) => `[${text}](${to})`),
    phrase.map((text) => `![${text}](i.png)`),
    phrase.map((text) => `<a title="${text}">`),
  ),
})).inline;

const prefixed = (lines: string, first: string, rest: string) =>
  lines
    .split('\n')
    .map((line, at) => (at === 0 ? first : line === '' ? '' : rest) + line)
    .join('\n');

const table = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.boolean(),
    fc.array(fc.array(inline, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
  )
  .map(([columns, bars, rows]) => {
    const row = (cells: readonly string[]) => (bars ? `| ${cells.join(' | ')} |` : cells.join(' | '));
    const head = Array.from({ length: columns }, (_, at) => rows[0]?.[at] ?? 'x');
    const rule = Array.from({ length: columns }, (_, at) => [':--', '--:', ':-:', '---'][at % 4] ?? '-');
    return [row(head), row(rule), ...rows.map(row)].join('\n');
  });

const code = fc.constantFrom(
  'const a = `b',
  '/* open',
  '*/ let x = "s"',
  '',
  '    indented',
  '\tif (x) {',
  '}',
  '日本',
  '`` ` ``',
  '~~~',
  '> no',
);
const fence = fc
  .tuple(
    fc.constantFrom('```', '````', '~~~', '  ```'),
    fc.constantFrom('', 'js', 'ts title="x"', 'python', 'html', 'nosuch', 'a`b'),
    fc.array(code, { maxLength: 6 }),
    fc.boolean(),
  )
  .map(([mark, info, lines, closed]) => [mark + info, ...lines, ...(closed ? [mark] : [])].join('\n'));

const leaf = fc.oneof(
  { weight: 5, arbitrary: fc.array(inline, { minLength: 1, maxLength: 2 }).map((lines) => lines.join('\n')) },
  fc
    .tuple(fc.integer({ min: 1, max: 7 }), inline)
    .map(([level, text]) => `${'#'.repeat(level)} ${text.replaceAll('\n', ' ')}`),
  inline.map((text) => `${text}\n===`),
  fc.constantFrom(
    '---',
    '* * *',
    '___',
    '- - x',
    '--',
    '=',
    '#',
    '>',
    '-',
    '1)',
    '\\',
    '[x]: u',
    '|',
    '| |',
    '|-|',
  ),
  fc.constantFrom('<div>\n*x*\n</div>', '<!-- c\n\n-->', '<pre>\n\n*x*\n</pre> y', '<br>', '<x y', '</'),
  table,
  fence,
  fc.constant('    indented\n\n        more'),
);

const block: fc.Arbitrary<string> = fc.letrec<{ block: string; blocks: string }>((tie) => ({
  block: fc.oneof(
    { depthSize: 'small' },
    leaf,
    tie('blocks').map((text) => prefixed(text, '> ', '> ')),
    fc
      .tuple(
        fc.constantFrom('- ', '* ', '+ ', '1. ', '7) ', '10. ', '- [ ] ', '- [x] ', '-\t', '-     '),
        fc.array(tie('blocks'), { minLength: 1, maxLength: 2 }),
      )
      .map(([mark, items]) =>
        items
          .map((item) => prefixed(item, mark, ' '.repeat(mark.startsWith('- [') ? 2 : mark.length)))
          .join('\n'),
      ),
  ),
  blocks: fc
    .array(tie('block'), { minLength: 1, maxLength: 2 })
    .chain((all) => fc.constantFrom('\n\n', '\n').map((by) => all.join(by))),
})).blocks;

/** A complete reply; its lines end with LF or CRLF, and it may break off anywhere. */
export const markdownText: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(block, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('\n\n', '\n', '\n\n\n'),
    fc.boolean(),
    fc.double({ min: 0.5, max: 1.5, noNaN: true }),
  )
  .map(([blocks, by, crlf, end]) => {
    const text = blocks.join(by);
    return (crlf ? text.replaceAll('\n', '\r\n') : text).slice(0, Math.ceil(text.length * end));
  });
