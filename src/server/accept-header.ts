// Reads the header `Accept`, which chooses the form of a reply: a stream of events, or one JSON body, which is the default.
import { eventStreamType } from '../wire/headers.ts';

/** True if the header prefers `text/event-stream` to `application/json` by its weights (RFC 9110, section 12.5.1). */
export function prefersStream(accept: string | null): boolean {
  if (accept === null) return false;
  let best = { type: 'application/json', weight: 0 };
  // Of two types with the same weight, the first one is chosen.
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (name !== eventStreamType && name !== 'application/json') continue;
    const weight = weightOf(parameters);
    if (weight > best.weight) best = { type: name, weight };
  }
  return best.type === eventStreamType;
}

function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
}
