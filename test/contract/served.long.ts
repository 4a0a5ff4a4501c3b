// The API suite over a server on a port of this process. The usual tests run it over a server in another process, which holds the same code.
import { afterAll, beforeAll } from 'vitest';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { openRemote } from '../support/remote.ts';
import { newProjects } from './service-projects.ts';
import { describeService } from './service-suite.ts';

let server: ServerFixture;
let url: string;

beforeAll(async () => {
  server = await openServer();
  ({ url } = await server.listen());
});

afterAll(() => server.close());

describeService('from a server on a port', async () => {
  // Of hundreds of calls at once, the last one waits long on a busy machine.
  const { backend } = await openRemote(url, { timeout: 30 });
  return { backend, ...(await newProjects(server.backend)), close: () => backend.close() };
});
