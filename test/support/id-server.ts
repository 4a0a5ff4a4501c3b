// A third-party server with the sessions `id-0`, `id-1` and so on for a single test, which commands reach by their variables.
import { onTestFinished } from 'vitest';
import { type BasicServerOptions, openBasicServer } from './basic-server.ts';

export async function openIdServer(options: Partial<BasicServerOptions> & { readonly count: number }) {
  const ids = Array.from({ length: options.count }, (_, index) => `id-${index}`);
  const server = await openBasicServer({ ids, ...options });
  onTestFinished(() => server.close());
  return {
    server,
    ids,
    stdin: `${ids.join('\n')}\n`,
    env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' },
  };
}
