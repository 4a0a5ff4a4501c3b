// Who may sign a server's certificate, where a file adds to those that Node trusts.
import { createReadStream } from 'node:fs';
import { ParleyError } from '../service/errors.ts';

/** Of a file that is longer, or has no end, the rest is not read. */
const mostBytes = 16 * 1024 * 1024;

/** Certificates (PEM) of all; null for those that Node trusts by itself. */
export async function readAuthorities(
  file: string | null,
  env: { readonly NODE_EXTRA_CA_CERTS?: string | undefined },
): Promise<readonly string[] | null> {
  if (file === null) return null;
  const { rootCertificates } = await import('node:tls');
  // Node adds this file to its own list by itself, but not to a list that it is given.
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
