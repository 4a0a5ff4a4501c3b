// Formats a request as a curl command that repeats it, for debugging. The command reads the key from a variable and does not contain it.
import type { HttpRequest } from '../http/http-client.ts';
import { redactKey } from '../http/key-redaction.ts';
import { singleQuoted } from '../system/shell-quote.ts';

/** The variable that holds the key of a Parley server. */
const parleyKeyVariable = '$PARLEY_API_KEY';

/** The command as one line for a POSIX shell. `keyVariable` replaces the key, even inside the message. */
export function curlCommand(
  request: Omit<HttpRequest, 'signal'>,
  origin: string,
  apiKey: string,
  authorityFile: string | null,
  keyVariable = parleyKeyVariable,
): string {
  const words = ['curl', '-sS', '-N', '-X', request.method, singleQuoted(origin + request.path)];
  if (authorityFile !== null) words.push('--cacert', singleQuoted(authorityFile));
  for (const [name, value] of Object.entries(request.headers)) {
    const isKey = name === 'Authorization';
    words.push('-H', isKey ? `"${name}: Bearer ${keyVariable}"` : singleQuoted(`${name}: ${value}`));
  }
  if (request.body !== null) words.push('--data-binary', singleQuoted(asciiJson(request.body)));
  // A message may contain the key.
  return words.map((word) => redactKey(word, apiKey, keyVariable)).join(' ');
}

/** Escapes characters beyond ASCII, which occur only in JSON strings, because some terminals alter them. */
function asciiJson(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
