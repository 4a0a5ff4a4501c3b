// Preloaded by the build into parley itself (`node --require`): stores V8's code of the functions that a run has used, for the next start.
// Unused functions are left out, because loading them would cost more than it saves.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const scripts = [];
// The name that bin/parley.js uses.
const cache = `${process.version}-${process.platform}-${process.arch}.cache`;
// Chunks whose cache is complete from other runs.
const without = (process.env.RECORD_WITHOUT || '').split(' ');

// Pipes that look like a terminal, because the REPL opens only at one.
if (process.env.RECORD_TERMINAL === '1') {
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
}

// A cache stores the flags with which it was created, and the next start sets none.
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

/** The file that bin/parley.js reads: the length of the text, a mark that no command adds to the cache, the text, and the cache. V8 requires the cache at a multiple of eight bytes. */
function packed(text, script) {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(text.length);
  return Buffer.concat([head, text, script.createCachedData()]);
}
