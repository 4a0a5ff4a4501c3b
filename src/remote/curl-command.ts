// A request as a curl command that repeats it, for people who look for a fault. The command reads the key from a variable and does not
// contain it.

import type { HttpRequest } from '../http/http-client.ts';
import { redactKey } from '../http/key-redaction.ts';
import { singleQuoted } from '../system/shell-quote.ts';

/** The variable in place of the key of a Parley server. */
const parleyKey = '$PARLEY_API_KEY';

/** The command as one line for a POSIX shell. `keyPlace` stands in place of the key, also inside the message. */
export function curlCommand(
  request: Omit<HttpRequest, 'signal'>,
  origin: string,
  apiKey: string,
  authorityFile: string | null,
  keyPlace = parleyKey,
): string {
  const words = ['curl', '-sS', '-N', '-X', request.method, singleQuoted(origin + request.path)];
  if (authorityFile !== null) words.push('--cacert', singleQuoted(authorityFile));
  for (const [name, value] of Object.entries(request.headers)) {
    const isKey = name === 'Authorization';
    words.push('-H', isKey ? `"${name}: Bearer ${keyPlace}"` : singleQuoted(`${name}: ${value}`));
  }
  if (request.body !== null) words.push('--data-binary', singleQuoted(asciiJson(request.body)));
  // A message may contain the key, by mistake or not.
  return words.map((word) => redactKey(word, apiKey, keyPlace)).join(' ');
}

/** In JSON, only strings can hold characters beyond ASCII. They are escaped, because some terminals alter them. */
function asciiJson(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
