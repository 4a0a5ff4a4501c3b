// The main script of the single executable. It does the work of bin/parley.js, with the chunks of the build as assets. Node runs it for the
// program itself, and for a process of a served store.
'use strict';
const { basename } = require('node:path');
const { getRawAsset } = require('node:sea');
const vm = require('node:vm');

const chunks = new Map();
// This directory does not exist. A chunk derives the paths of threads and processes from it, whose last parts are names of assets.
const dist = '/parley/dist/';

// The first argument of a forked process is the file to run.
const worker = basename(process.argv[2] ?? '');
if (process.connected && /^store-worker-.{8}\.cjs$/.test(worker)) {
  process.argv.splice(1, 1);
  const text = Buffer.from(getRawAsset(worker)).toString();
  const script = new vm.Script(`(function (require, module, exports) {${text}\n})`, { filename: worker });
  script.runInThisContext()(require, { exports: {} }, {});
} else {
  load('./main.cjs').main();
}

function load(name) {
  if (!name.startsWith('./')) return require(name);
  if (!chunks.has(name)) {
    const file = name.slice(2);
    // The length of the text, the text, and its code cache, as bin/parley.js reads them.
    const packed = Buffer.from(getRawAsset(file));
    const end = 8 + packed.readUInt32LE(0);
    const text = packed.toString('latin1', 8, end);
    const cachedData = end < packed.length ? packed.subarray(end) : undefined;
    const script = new vm.Script(text, { filename: `dist/${file}`, cachedData });
    const chunk = { exports: {} };
    chunks.set(name, chunk);
    script.runInThisContext()(chunk.exports, load, chunk, dist + file, dist);
  }
  return chunks.get(name).exports;
}
