// Writes and reads the store of a place without a process for each step, for tests that need hundreds of sessions.
import { readFileSync } from 'node:fs';
import { callWith } from './calls.ts';
import { openEmbedded } from './embedded.ts';
import type { Place } from './parley.ts';

/** The key that the first use stored in the profile `local`. */
export function storedKey(place: Place): string {
  const config = JSON.parse(readFileSync(place.configFile, 'utf8'));
  return config.profiles.local.keys[place.dataDirectory];
}

/** Returns the ids, oldest first; the titles are `title 0`, `title 1`, …. */
export async function makeSessions(place: Place, count: number, title = 'title'): Promise<readonly string[]> {
  const backend = await openEmbedded(place.dataDirectory);
  try {
    const call = callWith(storedKey(place));
    const answers = Array.from({ length: count }, (_, index) =>
      backend.service.createSession(call, { title: `${title} ${index}` }),
    );
    return (await Promise.all(answers)).map(({ data }) => data.session_id);
  } finally {
    await backend.close();
  }
}
