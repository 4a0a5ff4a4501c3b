// The server with the basic API alone: an app of Parley's whose answers do not say that it has more, and whose other routes are
// not there. Told `restore`, it makes all deleted sessions active again.
import { pathToFileURL } from 'node:url';

const [directory, bundle] = process.argv.slice(2);
const { openEmbedded } = await load('embedded');
const { createApp } = await load('app');
const { listen } = await load('listen');
const { serverLog } = await load('server-log');
const { defaultServerLimits } = await load('server-limits');
const { defaultLimits } = await load('limits');

const home = await openEmbedded(directory);
const serverLimits = { ...defaultServerLimits, requestsPerSecond: 1_000_000 };
let requests = 0;
const app = createApp({
  arrived: () => {},
  service: home.service,
  archive: home.archive,
  limits: defaultLimits,
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
const basic = {
  ...app,
  async fetch(request, streams) {
    const response = await app.fetch(request, streams);
    response.headers.delete('Parley-Extensions');
    return response;
  },
};
const { url } = await listen(basic, { host: '127.0.0.1', port: 0, limits: serverLimits });
process.send({ url });

function load(name) {
  return import(pathToFileURL(`${bundle}/${name}.mjs`).href);
}
