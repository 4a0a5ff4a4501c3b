// The names of this machine, with the real program and a resolver that gives wrong addresses: the key does not leave the machine.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

const place = new Place();
const resolver = join(place.path, 'resolver.cjs');
let here: ScriptedServer;
let arrivedElsewhere = 0;
/** The same port of another address, which stands for another host. */
const elsewhere = createServer((socket) => {
  arrivedElsewhere += 1;
  socket.destroy();
});

beforeAll(async () => {
  here = await serve((_request, response) => sendJson(response, { success: true, data: {} }));
  await new Promise<void>((resolve) => elsewhere.listen(here.port, '127.0.0.2', resolve));
  writeFileSync(
    resolver,
    `const dns = require('node:dns');
     dns.lookup = (name, options, callback) => options.all
       ? callback(null, [{ address: '127.0.0.2', family: 4 }])
       : callback(null, '127.0.0.2', 4);`,
  );
});
afterAll(async () => {
  elsewhere.close();
  await here.close();
  place.remove();
});

test.each(['localhost', 'api.localhost', 'LOCALHOST.'])(
  '%s is this machine, whatever the resolver says',
  async (name) => {
    const before = here.requests.length;
    const { status, err } = await place.parley(['verify', '--url', `http://${name}:${here.port}`], {
      env: {
        PARLEY_API_KEY: 'secret',
        NODE_OPTIONS: `--require ${resolver}`,
        HTTP_PROXY: `http://127.0.0.2:${here.port}`,
      },
    });
    expect([status, err]).toEqual([0, '']);
    expect(here.requests.slice(before).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
    ]);
    expect(arrivedElsewhere).toBe(0);
  },
);

test('another name is looked up by the resolver', async () => {
  const { status } = await place.parley(
    ['verify', '--insecure-http', '--url', `http://one.example:${here.port}`],
    { env: { PARLEY_API_KEY: 'secret', NODE_OPTIONS: `--require ${resolver}` } },
  );
  expect(status).toBe(6);
  expect(arrivedElsewhere).toBeGreaterThan(0);
});

test.each([
  ['https_proxy', 'ftp://word@proxy:1'],
  ['HTTPS_PROXY', 'http://user:wo%rd@proxy:1'],
  ['https_proxy', 'http://word@[bad'],
])('%s=%s is wrong configuration, named and not repeated', async (variable, value) => {
  const { status, err } = await place.parley(['verify', '--url', 'https://one.example'], {
    env: { PARLEY_API_KEY: 'secret', [variable]: value },
  });
  expect(status).toBe(2);
  expect(err).toContain('(CONFIG)');
  expect(err).toContain(variable);
  expect(err).not.toMatch(/word@|wo%rd/);
});
