// A certificate authority for this run, and a certificate for the database on this machine, created by openssl.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths: the authority to trust, and the certificate and key of the server. */
export function makeCertificates(directory) {
  const at = (name) => join(directory, name);
  const [authority, authorityKey, certificate, key] = [
    ...[at('authority.pem'), at('authority.key'), at('server.pem'), at('server.key')],
  ];
  const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const constraint = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  openssl(
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=chaos authority', ...constraint],
    ...['-keyout', authorityKey, '-out', authority],
  );
  openssl('req', ...newKey, '-subj', '/CN=localhost', '-keyout', key, '-out', at('server.request'));
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  openssl(
    ...['x509', '-req', '-in', at('server.request'), '-days', '2', '-extfile', at('names')],
    ...['-CA', authority, '-CAkey', authorityKey, '-CAcreateserial', '-out', certificate],
  );
  return { authority, certificate, key };
}
