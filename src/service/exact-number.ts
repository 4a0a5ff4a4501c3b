// A number of JSON that a JavaScript number cannot hold, such as an integer beyond 2^53. It counts and compares as the nearest number that
// there is, and is shown with the digits that it came with.

export class ExactNumber extends Number {
  /** The number as it was written in the JSON. */
  readonly literal: string;

  constructor(literal: string) {
    super(literal);
    this.literal = literal;
  }

  override toString(): string {
    return this.literal;
  }
}

/** True if the nearest JavaScript number is written with the same digits as the literal, apart from zeros and the exponent. */
export function isHeldExactly(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && digitsOf(String(number)) === digitsOf(literal);
}

/** The digits without zeros at the ends, and the power of ten of the last digit. All ways to write a value give the same text. */
function digitsOf(literal: string): string {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significantDigits = digits.replace(/0+$/, '');
  if (significantDigits === '') return '0';
  return `${significantDigits}e${Number(power) - fraction.length + digits.length - significantDigits.length}`;
}
