// The long form of processes.test.ts: eight processes open a new store at the same moment, 100 times. It takes about 15 s.
import { test } from 'vitest';
import { openAtOnce } from './opened-at-once.ts';

test('eight processes that open a new store at the same moment make it once, 100 times', () =>
  openAtOnce(100));
