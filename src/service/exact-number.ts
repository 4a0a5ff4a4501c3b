// A number of JSON that a JavaScript number cannot hold, such as an integer beyond 2^53. It counts and compares as the nearest number that
// there is, and is shown with the digits that it came with.

export class ExactNumber extends Number {
  /** As JSON writes it. */
  readonly literal: string;

  constructor(literal: string) {
    super(literal);
    this.literal = literal;
  }

  override toString(): string {
    return this.literal;
  }
}

/** True for a literal whose value a JavaScript number holds, or holds as every program does that writes the fewest digits. */
export function isHeldExactly(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && digitsOf(String(number)) === digitsOf(literal);
}

/** The digits that count, and the power of ten of the last one: the same for all ways to write a value. */
function digitsOf(literal: string): string {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const counted = digits.replace(/0+$/, '');
  if (counted === '') return '0';
  return `${counted}e${Number(power) - fraction.length + digits.length - counted.length}`;
}
