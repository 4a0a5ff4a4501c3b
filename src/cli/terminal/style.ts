// Decides how many colours a stream shows, and provides the styles for it. chalk is loaded only for colours.
import { type OutputText, sequencesOf, TerminalText } from './terminal-text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** None, 16, 256, or 16 million colours: the levels of chalk. */
export type ColourLevel = 0 | 1 | 2 | 3;

/** The properties of a stream that decide its colour. A TTY of Node has both. */
export interface ColourStream {
  readonly isTTY?: boolean;
  getColorDepth?(env?: object): number;
}

const levels: Readonly<Record<string, ColourLevel>> = { '0': 0, false: 0, '2': 2, '3': 3 };

/**
 * `--no-color` has priority, then FORCE_COLOR, then NO_COLOR (both unless empty), then the capabilities of the terminal. TERM=dumb has no
 * colours.
 */
export function colourLevel(stream: ColourStream, env: Environment, noColor: boolean): ColourLevel {
  if (noColor) return 0;
  const { FORCE_COLOR: force = '', NO_COLOR: no = '' } = env;
  if (force !== '') return Object.hasOwn(levels, force) ? (levels[force] ?? 1) : 1;
  if (no !== '' || stream.isTTY !== true) return 0;
  // Node knows TERM=dumb, but it also obeys the two variables when they are empty.
  const { FORCE_COLOR, NO_COLOR, ...others } = env;
  const depth = stream.getColorDepth?.(others) ?? 1;
  if (depth >= 24) return 3;
  if (depth >= 8) return 2;
  return depth >= 4 ? 1 : 0;
}

type Paint = (text: OutputText) => TerminalText;

type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'blue' | 'cyan';

/** Each function styles a text. A string is filtered first. */
export type Style = Readonly<Record<StyleName, Paint>>;

function styleOf(paint: (text: string, name: StyleName) => string): Style {
  const painting = (name: StyleName) => (text: OutputText) =>
    new TerminalText(paint(sequencesOf(text), name));
  return {
    bold: painting('bold'),
    dim: painting('dim'),
    red: painting('red'),
    green: painting('green'),
    blue: painting('blue'),
    cyan: painting('cyan'),
  };
}

const plain = styleOf((text) => text);

export async function loadStyle(level: ColourLevel): Promise<Style> {
  if (level === 0) return plain;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level });
  return styleOf((text, name) => chalk[name](text));
}
