#!/usr/bin/env node
// The executable: checks Node, loads the build with its code cache, and hands over to its `main`. It is CommonJS (an ES
// module costs 5 ms more to start) and keeps to words that Node 12 can parse, so that the check can speak.
'use strict';

const needed = '20.19, 22.14 or newer';
const version = process.versions.node.split('.').map(Number);
const major = version[0];
const minor = version[1];

if (major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 14)) {
  fail(
    `Node ${process.versions.node} is too old: parley needs Node ${needed}.`,
    'Get it from https://nodejs.org.',
  );
} else {
  start();
}

function start() {
  const fs = require('node:fs');
  const vm = require('node:vm');
  const dist = `${__dirname}/../dist/`;
  const chunks = new Map();

  const main = load('./main.cjs');
  if (main !== null) main.main();
  else fail('parley is not built yet: dist/main.cjs is missing.', 'Run: npm run build');

  // What Node's own `require` would do, less its search for the file, plus the cache. V8 itself refuses a cache that another
  // version of it has made, and compiles the source.
  function load(name) {
    if (!name.startsWith('./')) return require(name);
    if (!chunks.has(name)) {
      const file = dist + name.slice(2);
      // The text and V8's cache of it in one file, so that a start reads one; without it, the text alone.
      const packed = read(`${file}.cache`);
      const end = packed === null ? 0 : 8 + packed.readUInt32LE(0);
      const text = packed === null ? read(file) : packed.subarray(8, end);
      if (text === null) return null;
      const cachedData = packed === null ? undefined : packed.subarray(end);
      const filename = `dist/${name.slice(2)}`;
      // The build writes ASCII alone: as Latin-1 it is read at once, as UTF-8 in pieces of 8 KiB.
      const script = new vm.Script(text.toString('latin1'), { filename, cachedData });
      const chunk = { exports: {} };
      chunks.set(name, chunk);
      script.runInThisContext()(chunk.exports, load, chunk, file, dist);
    }
    return chunks.get(name).exports;
  }

  // Null for a file that is not there; to ask for it first would be one more call of the system for each.
  function read(file) {
    try {
      return fs.readFileSync(file);
    } catch (error) {
      if (error.code === 'ENOENT') return null;
      throw error;
    }
  }
}

function fail(what, remedy) {
  process.stderr.write(`${what}\n${remedy}\n`);
  process.exitCode = 1;
}
