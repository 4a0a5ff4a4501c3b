// Parses a whole number of an option: digits only.
import { InvalidArgumentError } from 'commander';

/** Returns the parser of the option's value. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    const range =
      maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new InvalidArgumentError(`Give a whole number ${range}.`);
  };
}
