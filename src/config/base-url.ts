// Checks a base URL before a key is sent to it. Messages name the source of the URL and do not quote the URL, because it may contain a
// password. Only a host without a scheme is quoted.
import { isLoopback } from '../http/loopback.ts';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import type { Remedy } from '../service/remedy.ts';

/**
 * The URL without a slash at its end and with its path prefix. `source` names where the URL came from. `hasKey` is false for a server that
 * gets no key.
 */
export function readBaseUrl(
  text: string,
  source: string,
  { insecureHttp, hasKey = true }: { readonly insecureHttp: boolean; readonly hasKey?: boolean },
): string {
  // The URL parser silently drops some of these characters.
  if (!/^[!-~]*$/.test(text) && /[\p{Cc}\p{Cf}\p{Z}]/u.test(text))
    throw refused(source, 'contains a space or a control character');
  if (hostWithoutScheme.test(text) && URL.canParse(`http://${text}`)) throw withoutScheme(text, source);
  if (!URL.canParse(text)) throw refused(source, 'is not a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw refused(
      source,
      'contains a user name or a password',
      hasKey ? 'Remove them; the API key alone identifies you.' : 'Remove them.',
    );
  }
  if (!/^https?:\/\//i.test(text)) throw refused(source, 'does not begin with https:// or http://');
  if (text.includes('?') || text.includes('#')) throw refused(source, 'contains a query or a fragment');
  const sent = hasKey ? 'the key' : 'the messages';
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecureHttp) {
    throw refused(source, `would send ${sent} unencrypted to ${beginning(url.hostname)}`, '', {
      kind: 'allow_plain_http',
      ofMode: false,
    });
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** True for a URL of this machine. */
export function isLocalUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}

/** A name with a dot or a port, or an address; then perhaps a port and a path. A key or a password does not look like this. */
const hostWithoutScheme =
  /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\]|([a-z\d-]{1,63}\.)+[a-z]{2,24}|[a-z\d-]{1,63}(?=:\d))(:\d{1,5})?(\/[\w./-]*)?$/i;

function withoutScheme(text: string, source: string): ParleyError {
  const { hostname } = new URL(`http://${text}`);
  const url = `${isLoopback(hostname) ? 'http' : 'https'}://${text}`;
  const isVariable = /^[A-Z_]+$/.test(source);
  const example = source.startsWith('-') ? `${source} ${url}` : isVariable ? `${source}=${url}` : url;
  return refused(source, 'has no scheme', `Use ${example}`);
}

function refused(
  source: string,
  problem: string,
  hint = 'A base URL looks like https://host/prefix',
  remedy: Remedy | null = null,
): ParleyError {
  return new ParleyError('CONFIG', `The URL of ${source} ${problem}.`, { hint, remedy });
}
