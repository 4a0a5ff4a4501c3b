import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { describeService } from './service-suite.ts';

describeService('embedded', async () => {
  const directory = await temporaryDirectory();
  const backend = await openEmbedded(directory.path);
  const revoked = await backend.administration.createKey({ project_name: 'first', key_name: 'revoked' });
  await backend.administration.revokeKey(revoked.key_id);
  return {
    backend,
    firstProject: 'first',
    firstKey: await newKey(backend, 'first'),
    secondKey: await newKey(backend, 'second'),
    revokedKey: revoked.key,
    async close() {
      await backend.close();
      await directory.remove();
    },
  };
});
