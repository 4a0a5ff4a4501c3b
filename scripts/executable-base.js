// The Node of single executables, and a build by it: V8's code cache must be created by the V8 that reads it.
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyCheckout } from './checkout-copy.js';
import { fetchRuntime } from './node-runtime.js';

/** Node can build executables since 25.5 (`--build-sea`), from a Node of the same version. */
export const nodeVersion = '26.10.0';

/** `home` is a directory for all files. It needs `npm ci`. */
export function buildWithBase(home) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { bin, env } = fetchRuntime(nodeVersion, join(home, 'runtime'));
  const node = join(bin, 'node');
  const checkout = join(home, 'checkout');
  copyCheckout(checkout);
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  execFileSync(node, [join(checkout, 'scripts', 'build.js')], { cwd: checkout, env, stdio: 'inherit' });
  return { node, checkout };
}
