// The same API through a server on a port of this process: one for the file, with new projects for each test, and a client that talks to it.
import { afterAll, beforeAll } from 'vitest';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { newKey } from '../support/embedded.ts';
import { openRemote } from '../support/remote.ts';
import { describeService } from './service-suite.ts';

let server: ServerFixture;
let url: string;
let tests = 0;

beforeAll(async () => {
  server = await openServer();
  ({ url } = await server.listen());
});

afterAll(() => server.close());

describeService('from a server on a port', async () => {
  tests += 1;
  const [first, second] = [`first ${tests}`, `second ${tests}`];
  const { administration } = server.home;
  const revoked = await administration.createKey({ project_name: first, key_name: 'revoked' });
  await administration.revokeKey(revoked.key_id);
  const { home } = await openRemote(url);
  return {
    home,
    firstProject: first,
    firstKey: await newKey(server.home, first),
    secondKey: await newKey(server.home, second),
    revokedKey: revoked.key,
    close: () => home.close(),
  };
});
