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
