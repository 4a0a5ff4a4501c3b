// The API suite over a server on a port of this process: one server for the file, new projects for each test, and a remote client.
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
  const { administration } = server.backend;
  const revoked = await administration.createKey({ project_name: first, key_name: 'revoked' });
  await administration.revokeKey(revoked.key_id);
  const { backend } = await openRemote(url);
  return {
    backend,
    firstProject: first,
    firstKey: await newKey(server.backend, first),
    secondKey: await newKey(server.backend, second),
    revokedKey: revoked.key,
    close: () => backend.close(),
  };
});
