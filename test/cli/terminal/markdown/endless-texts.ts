// Texts of a given length that repeat one shape, which a renderer might read repeatedly.

export type EndlessText = (length: number) => string;

const repeated =
  (unit: string, before = ''): EndlessText =>
  (length) =>
    before + unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const growing =
  (unit: (index: number) => string): EndlessText =>
  (length) => {
    let text = '';
    for (let index = 0; text.length < length; index++) text += unit(index);
    return text;
  };
const nested =
  (open: string, close: string): EndlessText =>
  (length) =>
    repeated(open)(length / 2) + repeated(close)(length / 2);

/** An ordinary reply, as the floor for the others. */
export const prose = repeated('word and some **strong** words, `code` here. ');

const units = [
  ...['[', '[ ', '[a ', ']', '[]', '[a](', '[a](b ', '[a](<b', '[a][b]', '[a][', '](', '![', '![a '],
  ...[
    '*',
    '* ',
    '*a',
    '*a ',
    'a*',
    'a* ',
    '**a',
    '**a ',
    '***a *',
    '*_',
    '*a _b ',
    'a**b',
    '**a**',
    '*a **a ',
  ],
  ...['_', '_a', '_a ', 'a_', '*a_ ', '"*', '~', '~a', '`', '`a ', '`a`', '\\', '\\*', '\\\n'],
  ...['<', '<a ', '<!-- a\n', '<div>\n', '<pre>\n', '&', '&amp', '&amp;', '&#', '|', '|a|b|\n', '|-'],
  ...['>', '> ', '- ', '+ ', '1. ', '- a\n', '- a\n\n', '-\n', '1', '1.', '- [ ] ', '# ', 'a\n=\n', '=', '-'],
  ...[
    '\t',
    '\tx\n',
    ' ',
    '\n',
    '\r\n',
    '[a]: b\n',
    'a',
    '語',
    '\u{1f600}',
    '\u{1f469}\u200d',
    'e\u0301',
    'ก',
  ],
  ...['https://e.com/a ', 'http://', 'www.', '://', 'a@', 'a@b.c ', '\x1b[31m', '\u202e', '\ud83d', '```\n'],
];

export const endlessTexts: Readonly<Record<string, EndlessText>> = {
  ...Object.fromEntries(units.map((unit) => [JSON.stringify(unit), repeated(unit)])),
  ...Object.fromEntries(
    ['[', '*', '_', '`', '~', '<', '<a', '<?', '<!--', '<![CDATA[', '<a b="', '&a'].map((unit) => [
      `words, then ${JSON.stringify(unit)}`,
      repeated(unit, 'word '),
    ]),
  ),
  'nested brackets': nested('[', ']'),
  'nested links': nested('[a ', '](b) '),
  'nested images': nested('![a', '](b)'),
  'nested emphasis': nested('*a', 'a*'),
  'runs of backticks that grow': growing((index) => ` ${'`'.repeat(index)}`),
  'quotes that grow': growing((index) => `${'>'.repeat((index % 400) + 1)} a\n`),
  'lists that grow': growing((index) => `${'  '.repeat(index % 300)}- a\n`),
  'space in a heading': repeated(' ', '# a'),
  'marks at the end of a heading': repeated(' #', '# a'),
  'parentheses of a link': repeated('(', '[a]('),
  'an address with parentheses': repeated(')', 'https://e.com/'),
  'an address with references': repeated('&a;', 'https://e.com/'),
  'attributes of HTML': repeated('a="b" ', 'word <a '),
  'a table of narrow rows': repeated('|c|d|\n', '|a|b|\n|-|-|\n'),
  'a table of many columns': repeated('|c|\n', `|${'a|'.repeat(400)}\n|${'-|'.repeat(400)}\n`),
  'a table of 10,000 columns': repeated(
    `|${'b|'.repeat(10_000)}\n`,
    `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n`,
  ),
  'a table of long cells': repeated(`|${'*a **b `c [d '.repeat(70)}|\n`, '|a|\n|-|\n'),
  'code with long lines': repeated(`${'let a = "b"; '.repeat(76)}\n`, '```js\n'),
  'code in one line': repeated('let a = 1; ', '```js\n'),
  'a comment that stays open': repeated('let a = 1;\n', '```js\n/*\n'),
  'strings that nest': repeated('`${\n', '```js\n'),
};
