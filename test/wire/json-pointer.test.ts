// JSON Pointers (RFC 6901) into a response.
import { describe, expect, it } from 'vitest';
import { readPointer, valueAt } from '../../src/wire/json-pointer.ts';

describe('a JSON Pointer', () => {
  // The document and the answers of RFC 6901, section 5.
  const value = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  };

  it.each([
    ['', value],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('%j names its place', (pointer, expected) => {
    expect(valueAt(value, readPointer(pointer) ?? ['unread'])).toEqual(expected);
  });

  it.each(['/foo/2', '/foo/-', '/foo/00', '/foo/length', '/none', '/toString', '/foo/0/x', '/__proto__'])(
    '%j names no place in it',
    (pointer) => {
      expect(valueAt(value, readPointer(pointer) ?? [])).toBeUndefined();
    },
  );

  it.each(['foo', 'a/b', '/~', '/~2', '#/foo'])('%j is none', (pointer) => {
    expect(readPointer(pointer)).toBeNull();
  });

  it('~01 is ~1, not a slash', () => {
    expect(readPointer('/~01')).toEqual(['~1']);
  });
});
