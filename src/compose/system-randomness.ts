// Random bytes from the operating system. They are read from its device if there is one, because `node:crypto`, which uses the same source,
// takes a twentieth of a start to load.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RandomBytes } from '../local/ids.ts';

/** The bytes of one read. A signal does not shorten a read of at most 256 bytes (random(4)). */
const poolBytes = 256;

/** A source of random bytes. A call for more than 256 bytes throws a `RangeError` if the device is used. */
export async function systemRandomness(device = '/dev/urandom'): Promise<RandomBytes> {
  const pool = new Uint8Array(poolBytes);
  if (!fillFrom(device, pool)) return (await import('node:crypto')).randomBytes;
  let used = 0;
  return (size) => {
    if (size > poolBytes) throw new RangeError(`${size} random bytes are more than ${poolBytes}.`);
    if (used + size > poolBytes) {
      if (!fillFrom(device, pool)) throw new Error(`${device} returns no more random bytes.`);
      used = 0;
    }
    const bytes = pool.slice(used, used + size);
    // Bytes that were used are erased from the pool.
    pool.fill(0, used, used + size);
    used += size;
    return bytes;
  };
}

/** Fills the pool. False if the device does not exist or is something else. */
function fillFrom(device: string, pool: Uint8Array): boolean {
  let file: number;
  try {
    file = openSync(device, 'r');
  } catch {
    return false;
  }
  try {
    return fstatSync(file).isCharacterDevice() && readSync(file, pool) === pool.length;
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}
