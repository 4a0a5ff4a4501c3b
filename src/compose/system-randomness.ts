// Random bytes from the operating system. Where it has a device for them, that is read: loading node:crypto, which asks the same
// kernel, takes a twentieth of a whole start.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RandomBytes } from '../local/ids.ts';

/** So many bytes are read at a time: a read of no more is never cut short by a signal (random(4)). */
const poolBytes = 256;

export async function systemRandomness(device = '/dev/urandom'): Promise<RandomBytes> {
  const pool = new Uint8Array(poolBytes);
  if (!fillFrom(device, pool)) return (await import('node:crypto')).randomBytes;
  let used = 0;
  return (size) => {
    if (size > poolBytes) throw new RangeError(`${size} random bytes are more than ${poolBytes}.`);
    if (used + size > poolBytes) {
      if (!fillFrom(device, pool)) throw new Error(`${device} gives no more random bytes.`);
      used = 0;
    }
    const bytes = pool.slice(used, used + size);
    // What was handed out is nowhere else.
    pool.fill(0, used, used + size);
    used += size;
    return bytes;
  };
}

/** False where there is no such device, or something else stands in its place. */
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
