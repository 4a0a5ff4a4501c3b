// The look of each element: SGR codes of the 16 basic colours on a terminal with colour, bold and italic alone on a terminal without colour,
// and the marks of Markdown in a pipe.
import type { Output } from '../output.ts';

/** SGR codes for a text (`1;4`, or none), and marks to write around it. */
export interface Look {
  readonly codes: string;
  readonly open: string;
  readonly close: string;
}

export interface Theme {
  readonly strong: Look;
  readonly emphasis: Look;
  readonly deleted: Look;
  readonly code: Look;
  readonly linkText: Look;
  readonly address: Look;
  /** The look of bars, rules, bullets and the fences of code. */
  readonly frame: Look;
  /** By level. Index 0 is level 1. */
  readonly headings: readonly Look[];
}

const codes = (sgr: string): Look => ({ codes: sgr, open: '', close: '' });
const marks = (open: string, close: string): Look => ({ codes: '', open, close });

const colourTheme: Theme = {
  strong: codes('1'),
  emphasis: codes('3'),
  deleted: codes('9'),
  code: codes('36'),
  linkText: codes('4'),
  address: codes('34'),
  frame: codes('2'),
  headings: [codes('1;4;35'), codes('1;35'), codes('1;34'), codes('1'), codes('1'), codes('1')],
};

const monochromeTheme: Theme = {
  ...colourTheme,
  // Neither bold nor italic shows that a text is code.
  code: marks('`', '`'),
  address: marks('', ''),
  headings: [codes('1;4'), codes('1'), codes('1'), codes('1'), codes('1'), codes('1')],
};

const plainTheme: Theme = {
  strong: marks('**', '**'),
  emphasis: marks('*', '*'),
  deleted: marks('~~', '~~'),
  code: marks('`', '`'),
  linkText: marks('', ''),
  address: marks('', ''),
  frame: marks('', ''),
  headings: [1, 2, 3, 4, 5, 6].map((level) => marks(`${'#'.repeat(level)} `, '')),
};

/** For a text that is dimmed as a whole: the end of an SGR code of one element would end the dimming. */
export const dimmedTheme: Theme = {
  ...plainTheme,
  strong: marks('', ''),
  emphasis: marks('', ''),
  headings: plainTheme.headings.map(() => marks('', '')),
};

export function themeOf({ colour, formats }: Pick<Output, 'colour' | 'formats'>): Theme {
  if (colour > 0) return colourTheme;
  return formats ? monochromeTheme : plainTheme;
}

/** The SGR codes of a look inside another one. */
export function within(outer: string, inner: string): string {
  if (outer === '') return inner;
  return inner === '' ? outer : `${outer};${inner}`;
}

/** The text starts and ends without colour, so that no colour stays on between two writes. */
export function withSgr(text: string, sgr: string): string {
  return sgr === '' || text === '' ? text : `\x1b[${sgr}m${text}\x1b[0m`;
}
