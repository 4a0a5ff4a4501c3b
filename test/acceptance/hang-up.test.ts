// The terminal of the program closes: in every state it exits with 129 and without a core dump, and stores what it stores after Ctrl-C.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HangUpFixture, hangUp, hangUpStates, hungUp, openHangUp } from '../support/hang-up.ts';

let fixture: HangUpFixture;
beforeAll(async () => {
  fixture = await openHangUp();
});
afterAll(() => fixture.close());

/** States that leave data behind use the store and the model alone. */
const quiet = hangUpStates.filter(({ leaves }) => leaves === undefined);
const keeping = hangUpStates.filter(({ leaves }) => leaves !== undefined);

describe.concurrent('a terminal that closes on', () => {
  test.each(quiet)('$name ends it without a core dump', async (state) => {
    expect(await hangUp(state, fixture)).toEqual(state.ends ?? hungUp);
  });
});

describe('a terminal that closes on', () => {
  test.each(keeping)('$name ends it with 129, and nothing is lost', async (state) => {
    expect(await hangUp(state, fixture)).toEqual(hungUp);
    expect(await state.leaves?.(fixture)).toBe(null);
  });
});
