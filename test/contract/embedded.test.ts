import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { describeService } from './service-suite.ts';

describeService('embedded', async () => {
  const directory = await temporaryDirectory();
  const home = await openEmbedded(directory.path);
  const revoked = await home.administration.createKey({ project_name: 'first', key_name: 'revoked' });
  await home.administration.revokeKey(revoked.key_id);
  return {
    home,
    firstProject: 'first',
    firstKey: await newKey(home, 'first'),
    secondKey: await newKey(home, 'second'),
    revokedKey: revoked.key,
    async close() {
      await home.close();
      await directory.remove();
    },
  };
});
