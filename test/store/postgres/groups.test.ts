// What becomes of the calls of a group whose statement fails.
import { expect, test } from 'vitest';
import { Groups } from '../../../src/store/postgres/groups.ts';

test('a call for which the disk has no room, or the server no memory, fails alone', async () => {
  for (const code of ['53100', '53200', '54000']) {
    const groups = new Groups<number, number>({
      send: async (sizes) => {
        if (sizes.some((size) => size > 10)) throw Object.assign(new Error('it is too large'), { code });
        return sizes;
      },
      placeOf: () => null,
    });
    const settled = await Promise.allSettled([1, 100, 2].map((size) => groups.add(size)));
    expect(settled).toMatchObject([{ value: 1 }, { reason: { code } }, { value: 2 }]);
  }
});

test('a failure of the whole database fails them all, without another sending', async () => {
  let sendings = 0;
  const groups = new Groups<number, number>({
    send: async () => {
      sendings += 1;
      throw Object.assign(new Error('no connection'), { code: '53300' });
    },
    placeOf: () => null,
  });
  const settled = await Promise.allSettled([1, 2].map((size) => groups.add(size)));
  expect(settled).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(sendings).toBe(1);
});
