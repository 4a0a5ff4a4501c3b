// Parley's server over a schema of the database: `parley serve` has no mode that reads a history and needs no model.
import { bundledModule, serveApp } from '../served-app.js';
import { openHome } from './home.js';

const [url, schema, bundle] = process.argv.slice(2);
const { newKey } = await bundledModule(bundle, 'embedded');
const home = await openHome(url, schema, bundle);
const key = await newKey(home, 'bench');
process.send({ url: await serveApp(bundle, home, { limits: { requestsPerSecond: 1_000_000 } }), key });
