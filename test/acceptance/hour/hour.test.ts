// The first minutes of a scripted hour on a pseudo-terminal. hour.long.ts runs all of it, with each backend.
import { expect, test } from 'vitest';
import { openHome } from './homes.ts';
import { Hour } from './hour.ts';

test('a session keeps its settings, its other replies and its copies, as the rows of the store show', async () => {
  const home = await openHome('embedded', null);
  const hour = await Hour.begin(home);
  try {
    await hour.round(1, { isWhole: false });
    expect(hour.turns).toBe(13);
  } finally {
    hour.close();
    await home.close();
  }
}, 60_000);
