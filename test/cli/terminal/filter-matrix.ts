// Every attack, cut everywhere, in every place that shows untrusted text; and random texts there. One check for all: a terminal gets only
// printable characters, line ends, and Parley's own colours if it has any.
import fc from 'fast-check';
import { attacks, hostileText, isHarmless, withoutOwnColour, withoutOwnWeight } from './attacks.ts';
import { type FilterPlace, withoutFrame } from './filter-places.ts';
import { HostileServer } from './hostile-server.ts';

/** A text that passed: its place, the attack, and the whole output. */
export interface Breach {
  readonly place: string;
  readonly pieces: readonly string[];
  readonly written: string;
}

/** The number of shown texts, and those that passed. */
export interface MatrixReport {
  readonly shown: number;
  readonly breaches: readonly Breach[];
}

/** As a whole, in two at each place, and each character alone. */
function cuts(text: string): readonly (readonly string[])[] {
  const inTwo = Array.from({ length: text.length - 1 }, (_, at) => [
    text.slice(0, at + 1),
    text.slice(at + 1),
  ]);
  return [[text], ...inTwo, text.split('')];
}

/** All of them, or every nth from a given one. With and without colour, different ones are left out. */
export async function attackAt(place: FilterPlace, { each = 1, first = 0 } = {}): Promise<MatrixReport> {
  const texts = Object.values(attacks).flatMap(cuts);
  const from = (start: number) => texts.filter((_text, index) => index % each === start % each);
  const [plain, coloured] = [
    await shownAt(place, from(first), false),
    await shownAt(place, from(first + 1), true),
  ];
  return { shown: plain.shown + coloured.shown, breaches: [...plain.breaches, ...coloured.breaches] };
}

/** Each text in two, cut anywhere. */
export async function randomAt(place: FilterPlace, count: number): Promise<MatrixReport> {
  const texts = fc.sample(fc.tuple(hostileText, hostileText), count);
  return shownAt(place, texts, false);
}

async function shownAt(
  place: FilterPlace,
  texts: readonly (readonly string[])[],
  colour: boolean,
): Promise<MatrixReport> {
  const breaches: Breach[] = [];
  const server = new HostileServer(colour);
  for (const pieces of texts) {
    await place.show(pieces, server);
    const written = withoutFrame(server.taken());
    if (!isHarmless(colour ? withoutOwnColour(written) : withoutOwnWeight(written)))
      breaches.push({ place: place.name, pieces, written });
  }
  return { shown: texts.length, breaches };
}
