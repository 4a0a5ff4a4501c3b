// Derives the id of a session from a text, so that the same text gives the same id everywhere.
import { hash } from 'node:crypto';

const digits = '0123456789abcdefghjkmnpqrstvwxyz';

export function derivedSessionId(text: string): string {
  const bytes = hash('sha256', text, 'buffer').subarray(0, 26);
  let id = 'ses_';
  for (const byte of bytes) id += digits[byte & 31];
  return id;
}
