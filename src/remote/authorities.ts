// The authorities that may sign a server's certificate, if a file adds to those that Node trusts.
import { createReadStream } from 'node:fs';
import { ParleyError } from '../service/errors.ts';

/** The most bytes of a file that are read. The file may be longer, or have no end. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Certificates (PEM) of all authorities to trust; null for those that Node trusts by itself. Rejects with `CONFIG` for a file that cannot
 * be used.
 */
export async function readAuthorities(
  file: string | null,
  env: { readonly NODE_EXTRA_CA_CERTS?: string | undefined },
): Promise<readonly string[] | null> {
  if (file === null) return null;
  const { rootCertificates } = await import('node:tls');
  // Node adds the file of this variable to its own list, but not to a list that it is given.
  const extra = env.NODE_EXTRA_CA_CERTS;
  return [
    ...rootCertificates,
    ...(extra ? [await readCertificates(extra, 'NODE_EXTRA_CA_CERTS')] : []),
    await readCertificates(file, 'the option ca'),
  ];
}

async function readCertificates(file: string, source: string): Promise<string> {
  let text = '';
  try {
    for await (const part of createReadStream(file, { encoding: 'utf8', end: mostBytes })) text += part;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw refused(`The file of ${source}, ${file}, cannot be read (${code}).`, cause);
  }
  if (/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text)) return text;
  throw refused(`The file of ${source}, ${file}, holds no certificate.`);
}

function refused(message: string, cause?: unknown): ParleyError {
  return new ParleyError('CONFIG', message, {
    hint: 'Give a file of certificates in PEM form (-----BEGIN CERTIFICATE-----).',
    cause,
  });
}
