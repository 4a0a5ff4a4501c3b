// A key given to a profile for the store of this machine.
import { putOtherStoreKey, putStoreKey, storeKey } from '../config/profiles.ts';
import { ParleyError } from '../service/errors.ts';
import type { CliContext, ServiceAccess } from './context.ts';

/** How a profile is given a key: one that this store does not take may be that of a store that comes back, and is not replaced. */
export async function storeKeyChange(profile: string, context: CliContext): Promise<typeof putStoreKey> {
  const { profileFile, dataDirectory } = context.host;
  const before = storeKey(profileFile.read(), profile, dataDirectory);
  return before === null || (await isTaken(before, context)) ? putStoreKey : putOtherStoreKey;
}

async function isTaken(apiKey: string, context: ServiceAccess): Promise<boolean> {
  const { backend } = await context.open();
  try {
    await backend.service.verify({ ...(await context.call()), apiKey });
    return true;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'INVALID_API_KEY') return false;
    throw error;
  }
}
