// Parley's own server over a temporary store, for cases in which `parley serve` is not suitable. It uses modules of a bundle.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The modules that `bundledModules` must bundle for it. */
export const servedModules = [
  'test/support/embedded.ts',
  'src/server/app.ts',
  'src/server/listen.ts',
  'src/server/server-log.ts',
  'src/server/server-limits.ts',
];

/** The module of this name in the folder of a bundle. */
export function bundledModule(bundle, name) {
  return import(pathToFileURL(join(bundle, `${name}.mjs`)).href);
}

/** Listens on a free port, and resolves to the URL. `limits` replace the defaults; `finish` may change each response. */
export async function serveApp(bundle, home, { limits = {}, finish = () => {} } = {}) {
  const { App } = await bundledModule(bundle, 'app');
  const { listen } = await bundledModule(bundle, 'listen');
  const { serverLog } = await bundledModule(bundle, 'server-log');
  const { defaultServerLimits } = await bundledModule(bundle, 'server-limits');
  const serverLimits = { ...defaultServerLimits, ...limits };
  let requests = 0;
  const app = new App({
    onRequest: () => {},
    metrics: null,
    servers: () => 1,
    service: home.service,
    archive: home.archive,
    serverLimits,
    version: '0.0.0',
    logger: serverLog(() => {}, Date.now).logger,
    ready: async () => {},
    now: Date.now,
    newRequestId: () => {
      requests += 1;
      return `req_${requests}`;
    },
  });
  const finished = {
    ...app,
    async fetch(request, streams) {
      const response = await app.fetch(request, streams);
      finish(response);
      return response;
    },
  };
  const { url } = await listen(finished, { host: '127.0.0.1', port: 0, limits: serverLimits });
  return url;
}
