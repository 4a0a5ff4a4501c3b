// The same API through a server on a port of this process, and the client that talks to it.
import { openServer } from '../server/server-fixture.ts';
import { openRemote } from '../support/remote.ts';
import { describeService } from './service-suite.ts';

describeService('from a server on a port', async () => {
  const server = await openServer();
  const { administration } = server.home;
  const revoked = await administration.createKey({ project_name: 'first', key_name: 'revoked' });
  await administration.revokeKey(revoked.key_id);
  const { home } = await openRemote((await server.listen()).url);
  return {
    home,
    firstProject: 'first',
    firstKey: server.key,
    secondKey: server.otherKey,
    revokedKey: revoked.key,
    async close() {
      await home.close();
      await server.close();
    },
  };
});
