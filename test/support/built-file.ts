// A file of the build whose name ends with a hash of its content.
import { readdirSync } from 'node:fs';

export function builtFile(name: string, dist = new URL('../../dist/', import.meta.url)): URL {
  const found = readdirSync(dist).filter((file) => file.startsWith(`${name}-`) && file.endsWith('.cjs'));
  if (found.length !== 1) throw new Error(`The build has ${found.length} files ${name}. Run: npm run build`);
  return new URL(found[0] as string, dist);
}
