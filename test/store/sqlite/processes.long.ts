// The long form of processes.test.ts: a store is opened first by eight processes at once, 100 times. It takes about 15 s.
import { test } from 'vitest';
import { openAtOnce } from './opened-at-once.ts';

test('a store is made once when eight processes open it at the same moment, 100 times', () =>
  openAtOnce(100));
