// The server over an engine that says one word and then waits until it is stopped: what a thousand such streams take is seen in
// this process's memory. Told `memory`, it answers with that.
import { pathToFileURL } from 'node:url';

const [directory, bundle] = process.argv.slice(2);
const { engineOf, openEmbedded, newKey } = await load('embedded');
const { createApp } = await load('app');
const { listen } = await load('listen');
const { serverLog } = await load('server-log');
const { defaultServerLimits } = await load('server-limits');
const { defaultLimits } = await load('limits');

const engines = engineOf(async function* (_context, signal) {
  yield { type: 'text', text: 'well ' };
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
});
const home = await openEmbedded(directory, { engines });
const key = await newKey(home, 'bench');
let requests = 0;
const app = createApp({
  arrived: () => {},
  service: home.service,
  archive: home.archive,
  limits: defaultLimits,
  serverLimits: defaultServerLimits,
  version: '0.0.0',
  logger: serverLog(() => {}, Date.now).logger,
  ready: async () => {},
  now: Date.now,
  newRequestId: () => {
    requests += 1;
    return `req_${requests}`;
  },
});
const { url } = await listen(app, { host: '127.0.0.1', port: 0, limits: defaultServerLimits });
process.on('message', () => process.send({ bytes: process.memoryUsage().rss }));
process.send({ url, key });

function load(name) {
  return import(pathToFileURL(`${bundle}/${name}.mjs`).href);
}
