// Arguments that are not text: Node decodes them before anybody can look, and puts U+FFFD for each byte that is not UTF-8. A
// message would be changed without a word; so the bytes are looked at where one of them holds that character.
import { ParleyError } from '../service/errors.ts';
import { NotText, Utf8Reader } from './terminal/utf8-reader.ts';

/**
 * `commandLine`: the process's own, the script and what Node itself was given included, a NUL after each word. Throws `USAGE`
 * for the first of `argv`, its last words, that is not UTF-8.
 */
export function requireText(argv: readonly string[], commandLine: Uint8Array): void {
  const words = splitAtNul(commandLine).slice(-argv.length);
  for (const [at, bytes] of words.entries()) {
    if (!argv[at]?.includes('\ufffd')) continue;
    const reader = new Utf8Reader({ name: `Argument ${at + 1}`, limit: null });
    try {
      reader.push(bytes);
      reader.end();
    } catch (error) {
      if (!(error instanceof NotText)) throw error;
      throw new ParleyError('USAGE', error.message, {
        hint: 'Nothing was done. Give a message through stdin or with --file, in UTF-8: iconv converts other encodings.',
        cause: error,
      });
    }
  }
}

function splitAtNul(bytes: Uint8Array): readonly Uint8Array[] {
  const words: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const nul = bytes.indexOf(0, from);
    const end = nul === -1 ? bytes.length : nul;
    words.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return words;
}
