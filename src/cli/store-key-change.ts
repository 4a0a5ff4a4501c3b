// Chooses how to store a key for this machine's store in a profile.
import { findProfile, putOtherStoreKey, putStoreKey, storeKey } from '../config/profiles.ts';
import { hasCode } from '../service/errors.ts';
import type { CliContext, ServiceAccess } from './context.ts';

/** A key in the profile that this store refuses is kept, because it may belong to an earlier store that comes back. */
export async function storeKeyChange(profile: string, context: CliContext): Promise<typeof putStoreKey> {
  const { profileFile } = context.host;
  const { storeName } = context.target;
  const config = profileFile.read();
  if (findProfile(config, profile) === null) return putStoreKey;
  const before = storeKey(config, profile, storeName);
  return before === null || (await isAccepted(before, context)) ? putStoreKey : putOtherStoreKey;
}

async function isAccepted(apiKey: string, context: ServiceAccess): Promise<boolean> {
  const { backend } = await context.open();
  try {
    await backend.service.verify({ ...(await context.call()), apiKey });
    return true;
  } catch (error) {
    if (hasCode(error, 'INVALID_API_KEY')) return false;
    throw error;
  }
}
