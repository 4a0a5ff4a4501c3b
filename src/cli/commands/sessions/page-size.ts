// How many items a page has, as an option of a command says it.
import { InvalidArgumentError } from 'commander';

export const largestPage = 200;

export function pageSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > largestPage) {
    throw new InvalidArgumentError(`Give a whole number from 1 to ${largestPage}.`);
  }
  return size;
}
