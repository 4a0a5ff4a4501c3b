// Two projects for one test, each with a key, and a revoked key, so that tests can share a store.
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { newKey } from '../support/embedded.ts';
import type { ServiceFixture } from './service-suite.ts';

let made = 0;

export async function newProjects(
  owner: EmbeddedBackend,
): Promise<Omit<ServiceFixture, 'backend' | 'close'>> {
  made += 1;
  const [first, second] = [`first ${made}`, `second ${made}`];
  const revoked = await owner.administration.createKey({ project_name: first, key_name: 'revoked' });
  await owner.administration.revokeKey(revoked.key_id);
  return {
    firstProject: first,
    firstKey: await newKey(owner, first),
    secondKey: await newKey(owner, second),
    revokedKey: revoked.key,
    issueKey: async (limits) =>
      (await owner.administration.createKey({ project_name: first, key_name: 'limited', ...limits })).key,
  };
}
