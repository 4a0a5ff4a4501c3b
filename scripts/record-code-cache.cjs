// Preloaded by the build into parley itself (`node --require`): keeps V8's code of what a run has used, for the next start.
// What no run used stays out: loading it would cost more than it saves.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const scripts = [];
// As bin/parley.js names it.
const cache = `${process.version}-${process.platform}-${process.arch}.cache`;
// Chunks that have what they need from other runs.
const without = (process.env.RECORD_WITHOUT || '').split(' ');

// Pipes that pass for a terminal: the REPL opens on nothing else.
if (process.env.RECORD_TERMINAL === '1') {
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
}

// A cache holds the flags at its making, and the next start has not set any.
require('node:v8').setFlagsFromString = () => {};

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (options.cachedData !== undefined && this.cachedDataRejected) {
      throw new Error(`V8 refuses the code cache that it made of ${options.filename}.`);
    }
    scripts.push({ file: path.join(__dirname, '..', options.filename), script: this });
  }
};

process.on('exit', () => {
  for (const { file, script } of scripts) {
    const [name] = path.basename(file).split(/[-.]/);
    if (!without.includes(name)) fs.writeFileSync(`${file}.${cache}`, packed(fs.readFileSync(file), script));
  }
});

/** As bin/parley.js reads it: the length of the text, that no command adds to the cache, the text, the cache. V8 wants the cache at a multiple of eight bytes. */
function packed(text, script) {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(text.length);
  return Buffer.concat([head, text, script.createCachedData()]);
}
