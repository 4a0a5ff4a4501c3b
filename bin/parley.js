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

  if (fs.existsSync(`${dist}main.cjs`)) load('./main.cjs').main();
  else fail('parley is not built yet: dist/main.cjs is missing.', 'Run: npm run build');

  // What Node's own `require` would do, less its search for the file, plus the cache. V8 itself refuses a cache that another
  // version of it has made, and compiles the source.
  function load(name) {
    if (!name.startsWith('./')) return require(name);
    if (!chunks.has(name)) {
      const file = dist + name.slice(2);
      const cachedData = fs.existsSync(`${file}.cache`) ? fs.readFileSync(`${file}.cache`) : undefined;
      const filename = `dist/${name.slice(2)}`;
      const script = new vm.Script(fs.readFileSync(file, 'utf8'), { filename, cachedData });
      const chunk = { exports: {} };
      chunks.set(name, chunk);
      script.runInThisContext()(chunk.exports, load, chunk, file, dist);
    }
    return chunks.get(name).exports;
  }
}

function fail(what, remedy) {
  process.stderr.write(`${what}\n${remedy}\n`);
  process.exitCode = 1;
}
