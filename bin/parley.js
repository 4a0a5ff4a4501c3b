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
} else if (!printed(knownText())) {
  start();
}

// What a line is answered with that asks for the version or the help alone; null for every other line. The help at a terminal has the
// terminal's width, so the program makes it.
function knownText() {
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
      // The pipe is full, and it is one that does not wait.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
  return true;
}

function start() {
  const fs = require('node:fs');
  const vm = require('node:vm');
  const dist = `${__dirname}/../dist/`;
  // The Node whose V8 has made a code cache. V8 of Node 20 also takes the cache of another Node 20, and crashes
  // (https://github.com/nodejs/node/issues/62781).
  const cache = `${process.version}-${process.platform}-${process.arch}.cache`;
  const chunks = new Map();
  // The number of commands that add their code to a new cache. A later command may use code that the first one did not.
  const addingCommands = 5;
  let added = process.execArgv.length > 0 || process.env.NODE_OPTIONS ? null : [];

  const main = load('./main.cjs');
  if (main !== null) main.main();
  else fail('parley is not built yet: dist/main.cjs is missing.', 'Run: npm run build');

  // Does what Node's own `require` does, without its search for the file and with the code cache. V8 refuses a cache that was made with
  // other flags, and compiles the source.
  function load(name) {
    if (!name.startsWith('./')) {
      // Parley loads this module only to set flags of V8. Starts without these flags refuse a cache that was made with them.
      if (name === 'node:v8') keepCode();
      return require(name);
    }
    if (!chunks.has(name)) {
      const file = dist + name.slice(2);
      // One file holds the length of the text, the number of commands that may still add to the cache, the text and the cache, so that a
      // start reads one file. Without that file the text is read alone.
      const packed = read(`${file}.${cache}`);
      const end = packed === null ? 0 : 8 + packed.readUInt32LE(0);
      const text = packed === null ? read(file) : packed.subarray(8, end);
      if (text === null && chunks.size === 0) return null;
      // A server runs for long, and an upgrade removes what it has not loaded yet.
      if (text === null)
        throw new Error(`${file} is gone: another version may be in its place. Start parley again`);
      const cachedData = packed === null ? undefined : packed.subarray(end);
      const filename = `dist/${name.slice(2)}`;
      // The build writes ASCII alone. Latin-1 decodes it at once, UTF-8 in blocks of 8 KiB.
      const script = new vm.Script(text.toString('latin1'), { filename, cachedData });
      const left = script.cachedDataRejected === false ? packed.readUInt32LE(4) : addingCommands;
      if (left > 0 && added !== null && added.push({ file, text, script, left: left - 1 }) === 1)
        process.on('exit', keepCode);
      const chunk = { exports: {} };
      chunks.set(name, chunk);
      script.runInThisContext()(chunk.exports, load, chunk, file, dist);
    }
    return chunks.get(name).exports;
  }

  // The package has the code cache of one release of Node. Another release makes its own in its first commands, if they may write beside
  // the build.
  function keepCode() {
    const all = added || [];
    added = null;
    all.every(isKept);
  }

  function isKept({ file, text, script, left }) {
    const part = `${file}.${process.pid}.part`;
    try {
      fs.accessSync(dist, fs.constants.W_OK);
      // Another version may be in the place of this one.
      if (!fs.readFileSync(file).equals(text)) return false;
      const head = Buffer.alloc(8);
      head.writeUInt32LE(text.length);
      head.writeUInt32LE(left, 4);
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
