// Files that appear whole or not at all, and the directories that are made for them.
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { AtomicFile, replaceFile } from '../../src/system/atomic-file.ts';
import { makePrivateDirectory } from '../../src/system/directories.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

describe('an atomic file', () => {
  it('does not exist before it is complete, and is the only file in its directory afterwards', () => {
    const path = join(directory, 'file');
    const file = new AtomicFile(path, { replaces: true, durable: true });
    file.write('one ');
    file.write('two');
    expect(existsSync(path)).toBe(false);
    file.keep();
    expect(readFileSync(path, 'utf8')).toBe('one two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('does not take the name of another file, unless it replaces', () => {
    const path = join(directory, 'file');
    const file = new AtomicFile(path, { replaces: false, durable: true });
    file.write('mine');
    writeFileSync(path, 'theirs');
    expect(() => file.keep()).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    file.discard();
    expect(readFileSync(path, 'utf8')).toBe('theirs');
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('leaves only the old content if it cannot be moved to its place', () => {
    const path = join(directory, 'file');
    makePrivateDirectory(join(path, 'inside'));
    expect(() => replaceFile(path, 'new', { durable: true })).toThrow(
      expect.objectContaining({ code: 'EISDIR' }),
    );
    expect(readdirSync(directory)).toEqual(['file']);
    expect(readdirSync(path)).toEqual(['inside']);
  });

  it('may have the longest name that a file system takes', () => {
    const name = 'é'.repeat(127);
    replaceFile(join(directory, name), 'text', { durable: false });
    expect(readdirSync(directory)).toEqual([name]);
  });
});

describe('a private directory', () => {
  it('is created with its parents, each private, under any umask', () => {
    const umask = process.umask(0o277);
    try {
      makePrivateDirectory(join(directory, 'one', 'two'));
    } finally {
      process.umask(umask);
    }
    for (const path of ['one', 'one/two']) expect(statSync(join(directory, path)).mode & 0o777).toBe(0o700);
  });

  it('is refused at once below a link to nowhere, and below a file', () => {
    symlinkSync(join(directory, 'nowhere'), join(directory, 'link'));
    writeFileSync(join(directory, 'file'), '');
    for (const parent of ['link', 'file']) {
      expect(() => makePrivateDirectory(join(directory, parent, 'below'))).toThrow();
    }
  });
});
