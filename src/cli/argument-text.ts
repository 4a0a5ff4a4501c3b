// Refuses arguments that are not UTF-8. Node decodes the arguments and replaces each invalid byte with U+FFFD, which would silently change
// a message. The bytes are checked only if an argument contains that character.
import { ParleyError } from '../service/errors.ts';
import { NotText, Utf8Reader } from './terminal/utf8-reader.ts';

/**
 * Throws `USAGE` for the first of `argv` that is not UTF-8. `commandLine` holds all arguments of the process, each followed by a NUL; `argv`
 * are the last of them.
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
        hint: 'Nothing was done. Pass the message on stdin or with --file, in UTF-8; iconv converts other encodings.',
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
