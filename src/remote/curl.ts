// A request as a command that repeats it, for people who look for a fault. The key is not in it: the shell puts it in.
import type { HttpRequest } from '../http/http-client.ts';
import { singleQuoted } from '../system/shell-quote.ts';

/** What the command says instead of the key, where it is the key of a server of ours. */
const parleyKey = '$PARLEY_API_KEY';

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
  return words.map((word) => withoutKey(word, apiKey, keyPlace)).join(' ');
}

/** A text may hold the key, by mistake or not. */
function withoutKey(word: string, apiKey: string, keyPlace: string): string {
  return apiKey === '' ? word : word.replaceAll(apiKey, () => keyPlace);
}

/** In JSON, what is not ASCII can stand only in strings; escaped, it goes through any terminal unharmed. */
function asciiJson(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
