// The server over an engine that sends one word and then waits until it is stopped. The memory of this process shows the cost of a thousand such
// streams. It answers each message with its memory.
import { bundledModule, serveApp } from '../served-app.js';

const [directory, bundle] = process.argv.slice(2);
const { engineOf, openEmbedded, newKey } = await bundledModule(bundle, 'embedded');

const engines = engineOf(async function* (_context, signal) {
  yield { type: 'text', text: 'well ' };
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
});
const home = await openEmbedded(directory, { engines });
const key = await newKey(home, 'bench');
const url = await serveApp(bundle, home);
process.on('message', () => process.send({ bytes: process.memoryUsage().rss }));
process.send({ url, key });
