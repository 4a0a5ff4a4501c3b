// Reads the authorities that may sign a server's certificate: those in a file, in addition to those that Node trusts.
import { ParleyError } from '../service/errors.ts';

const maxBytes = 16 * 1024 * 1024;

/** The certificates (PEM) of all trusted authorities. Rejects with `CONFIG` for a file that cannot be used. */
export async function readAuthorities(
  file: string,
  env: { readonly NODE_EXTRA_CA_CERTS?: string | undefined },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { rootCertificates } = await import('node:tls');
  // Node adds the file of this variable to its own list, but not to a list in its options.
  const extra = env.NODE_EXTRA_CA_CERTS;
  return [
    ...rootCertificates,
    ...(extra ? [await readCertificates(extra, ' (NODE_EXTRA_CA_CERTS)', signal)] : []),
    await readCertificates(file, '', signal),
  ];
}

async function readCertificates(file: string, source: string, signal: AbortSignal): Promise<string> {
  const { readAtMost } = await import('../system/bounded-file.ts');
  let text: string;
  try {
    text = Buffer.from(await readAtMost(file, maxBytes, signal)).toString();
  } catch (cause) {
    signal.throwIfAborted();
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw refused(`The file of certificates ${file}${source} cannot be read (${code}).`, cause);
  }
  if (/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text)) return text;
  throw refused(`The file of certificates ${file}${source} contains no certificate.`);
}

function refused(message: string, cause?: unknown): ParleyError {
  return new ParleyError('CONFIG', message, {
    hint: 'Use a file of certificates in PEM format (-----BEGIN CERTIFICATE-----).',
    cause,
  });
}
