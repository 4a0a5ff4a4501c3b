// Parley's server without the header that lists its extensions, so that it seems to have only the basic API.
import { bundledModule, serveApp } from '../served-app.js';

const [directory, bundle] = process.argv.slice(2);
const { openEmbedded } = await bundledModule(bundle, 'embedded');
const url = await serveApp(bundle, await openEmbedded(directory), {
  limits: { requestsPerSecond: 1_000_000 },
  finish: (response) => response.headers.delete('Parley-Extensions'),
});
process.send({ url });
