// Reads each file of authorities once for the whole process, because the file may be a pipe, which can be read only once.
import type { Dependencies } from './dependencies.ts';

export function authorityReader({
  env,
  signal,
}: Pick<Dependencies, 'env' | 'signal'>): Dependencies['readAuthorities'] {
  const readings = new Map<string, Promise<readonly string[]>>();
  return async (file) => {
    if (file === null) return null;
    const known = readings.get(file);
    if (known !== undefined) return known;
    const reading = import('../remote/authorities.ts').then(({ readAuthorities }) =>
      readAuthorities(file, env, signal),
    );
    readings.set(file, reading);
    // A file that cannot be used may be replaced before the next try.
    reading.catch(() => readings.delete(file));
    return reading;
  };
}
