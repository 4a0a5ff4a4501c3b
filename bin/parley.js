#!/usr/bin/env node
// The executable: checks Node's version, loads the build with its code cache, and calls its `main`. It is CommonJS, because an ES module
// takes 5 ms more to start. It uses only syntax that Node 12 can parse, so that the check can report an old version.
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
} else if (!printed(staticOutput())) {
  start();
}

// The output of a command line that asks only for the version or the help; null for every other one. On a terminal the help depends on the
// width, so the program formats it.
function staticOutput() {
  if (process.argv.length !== 3) return null;
  const fs = require('node:fs');
  const word = process.argv[2];
  try {
    if (word === '--version')
      return Buffer.from(`${JSON.parse(fs.readFileSync(`${__dirname}/../package.json`, 'utf8')).version}\n`);
    if ((word !== '--help' && word !== '-h') || fs.fstatSync(1).isCharacterDevice()) return null;
    return fs.readFileSync(`${__dirname}/../dist/help.txt`);
  } catch {
    return null;
  }
}

// False if there is no text, or if it cannot be written. The program then meets the same failure and reports it.
function printed(text) {
  if (text === null) return false;
  const fs = require('node:fs');
  for (let written = 0; written < text.length; ) {
    try {
      written += fs.writeSync(1, text, written);
    } catch (error) {
      if (written === 0 || error.code !== 'EAGAIN') return false;
      // The pipe is full and non-blocking.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
  return true;
}

function start() {
  const fs = require('node:fs');
  const vm = require('node:vm');
  const dist = `${__dirname}/../dist/`;
  // The suffix names the Node that has created the code cache. V8 of Node 20 would accept the cache of another Node 20, and crash
  // (https://github.com/nodejs/node/issues/62781).
  const cache = `${process.version}-${process.platform}-${process.arch}.cache`;
  const chunks = new Map();
  // The length of the comment with the hash of the text, at the start of the first file.
  const hashBytes = 24;
  // The number of commands that add their code to a new cache. A later command may use code that the first one did not use.
  const addingCommands = 5;
  let added = process.execArgv.length > 0 || process.env.NODE_OPTIONS ? null : [];

  const main = load('./main.cjs');
  if (main !== null) main.main();
  else fail('parley is not built yet: dist/main.cjs is missing.', 'Run: npm run build');

  // Does the same as Node's own `require`, but without its search for the file, and with the code cache. V8 refuses a cache that was created
  // with other flags, and then compiles the source.
  function load(name) {
    if (!name.startsWith('./')) {
      // Parley loads this module only to set flags of V8. A start without these flags would refuse a cache that was created with them.
      if (name === 'node:v8') storeCache();
      return require(name);
    }
    if (!chunks.has(name)) {
      const file = dist + name.slice(2);
      // One file contains the length of the text, the number of commands that may still add to the cache, the text and the cache, so that a
      // start reads one file. If there is no such file, only the text is read.
      let packed = read(`${file}.${cache}`);
      // Only the name of the first file contains no hash of its text; the text begins with it. A version that is copied over another one finds
      // the cache of that one.
      if (chunks.size === 0 && packed !== null && !beginsLike(file, textIn(packed))) packed = null;
      const end = packed === null ? 0 : 8 + packed.readUInt32LE(0);
      const text = packed === null ? read(file) : textIn(packed);
      if (text === null && chunks.size === 0) return null;
      // While a server runs, an upgrade may remove files that it has not loaded yet.
      if (text === null)
        throw new Error(`${file} is missing: another version may have replaced it. Start parley again`);
      const cachedData = packed === null ? undefined : packed.subarray(end);
      const filename = `dist/${name.slice(2)}`;
      // The build writes only ASCII. Latin-1 decodes it at once, UTF-8 in blocks of 8 KiB.
      const script = new vm.Script(text.toString('latin1'), { filename, cachedData });
      const remaining = script.cachedDataRejected === false ? packed.readUInt32LE(4) : addingCommands;
      if (
        remaining > 0 &&
        added !== null &&
        added.push({ file, text, script, remaining: remaining - 1 }) === 1
      )
        process.on('exit', storeCache);
      const chunk = { exports: {} };
      chunks.set(name, chunk);
      script.runInThisContext()(chunk.exports, load, chunk, file, dist);
    }
    return chunks.get(name).exports;
  }

  function beginsLike(file, text) {
    const start = Buffer.alloc(hashBytes);
    let descriptor;
    try {
      descriptor = fs.openSync(file);
      fs.readSync(descriptor, start);
      return start.equals(text.subarray(0, hashBytes));
    } catch {
      return false; // There is no such file.
    } finally {
      if (descriptor !== undefined) fs.closeSync(descriptor);
    }
  }

  function textIn(packed) {
    return packed.subarray(8, 8 + packed.readUInt32LE(0));
  }

  // The package contains the code cache of one release of Node. Another release creates its own during its first commands, if they can write
  // to the directory of the build.
  function storeCache() {
    const all = added || [];
    added = null;
    all.every(isStored);
  }

  function isStored({ file, text, script, remaining }) {
    const part = `${file}.${process.pid}.part`;
    try {
      fs.accessSync(dist, fs.constants.W_OK);
      // Another version may have replaced this one.
      if (!fs.readFileSync(file).equals(text)) return false;
      const head = Buffer.alloc(8);
      head.writeUInt32LE(text.length);
      head.writeUInt32LE(remaining, 4);
      const bytes = Buffer.concat([head, text, script.createCachedData()]);
      fs.writeFileSync(part, bytes, { flag: 'wx', flush: true });
      fs.chmodSync(part, fs.statSync(file).mode);
      fs.renameSync(part, `${file}.${cache}`);
      return true;
    } catch {
      // A start without a cache takes longer. Nothing else is different.
      if (fs.existsSync(part)) fs.unlinkSync(part);
      return false;
    }
  }

  // Null for a file that does not exist. Checking for the file first would be one more system call for each.
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
