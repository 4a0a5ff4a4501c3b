// A terminal that closes on the program: it ends with 129 in every state, with no core dump, and keeps what it would keep after Ctrl-C.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HangUpFixture, hangUp, hangUpStates, hungUp, openHangUp } from '../support/hang-up.ts';

let fixture: HangUpFixture;
beforeAll(async () => {
  fixture = await openHangUp();
});
afterAll(() => fixture.close());

/** Those that leave something behind have the store and the model to themselves. */
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
