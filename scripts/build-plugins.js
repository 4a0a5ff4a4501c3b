// What the bundler is told about single packages, to keep the start short.
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const childProcess = '\0lazy-child-process';
const sqlite = '\0better-sqlite3';
const operatingSystem = '\0operating-system';
const commander = '\0commander';
const undici = '\0undici';
const sqliteBinding = `${sqlite}-binding`;
const sqliteManifest = `${sqlite}-manifest`;

/** commander runs commands that are programs of their own through `child_process`. There are none here, so it loads never. */
export const lazyChildProcess = {
  name: 'lazy-child-process',
  resolveId: {
    filter: { id: /^node:child_process$/ },
    handler: (_id, importer) => (importer?.includes('/node_modules/commander/') ? childProcess : null),
  },
  load: {
    filter: { id: /^\0lazy-child-process$/ },
    handler: () => "exports.spawn = (...options) => require('node:child_process').spawn(...options);",
  },
};

/** A chat in a home that the environment names asks the operating system nothing of this. Loading the module takes 0.3 ms. */
export const lazyOs = {
  name: 'lazy-os',
  resolveId: {
    filter: { id: /^node:os$/ },
    handler: (_id, importer) => (importer?.includes('/src/') ? operatingSystem : null),
  },
  load: {
    filter: { id: /^\0operating-system$/ },
    handler: () =>
      ['homedir', 'hostname', 'setPriority', 'tmpdir']
        .map((name) => `export const ${name} = (...values) => require('node:os').${name}(...values);`)
        .join('\n'),
  },
};

/**
 * The classes of commander, without a program that nothing uses, and without the bundler's copy of the exports of a CommonJS package.
 * Both are made at each start.
 */
export const leanCommander = {
  name: 'lean-commander',
  resolveId: { filter: { id: /^commander$/ }, handler: () => commander },
  load: {
    filter: { id: /^\0commander$/ },
    handler: () =>
      Object.entries(commanderClasses)
        .map(([file, names]) => {
          const path = join(dirname(require.resolve('commander')), 'lib', file);
          return `const { ${names} } = require(${JSON.stringify(path)}); export { ${names} };`;
        })
        .join('\n'),
  },
};

const commanderClasses = {
  'argument.js': 'Argument',
  'command.js': 'Command',
  'error.js': 'CommanderError, InvalidArgumentError',
  'help.js': 'Help',
  'option.js': 'Option',
};

/** What the bundler's `charset` leaves as it is: the names in comments on licences, without their accents then. */
export const asciiComments = {
  name: 'ascii-comments',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      chunk.code = chunk.code.replace(/\/\*![\s\S]*?\*\//g, (comment) =>
        comment.normalize('NFD').replace(/[^\0-\x7f]/g, ''),
      );
    }
  },
};

/** The lines of the bundler's own that all chunks share stand in main, which is there already: it would leave them a chunk. */
export const runtimeInMain = {
  name: 'runtime-in-main',
  generateBundle(_options, bundle) {
    const runtime = Object.values(bundle).find(({ name }) => name === 'rolldown-runtime');
    for (const chunk of Object.values(bundle)) {
      const inPlace = `(${runtime.code}(exports.runtime={}),exports.runtime)`;
      chunk.code = chunk.code.replace(`require("./${runtime.fileName}")`, () =>
        chunk.name === 'main' ? inPlace : 'require("./main.cjs").runtime',
      );
    }
    delete bundle[runtime.fileName];
  },
};

/**
 * An `await import()` of a module of Node gets the module itself. The bundler copies its exports, to add a `default` that nothing here reads
 * of a module that is loaded late.
 */
export const plainBuiltins = {
  name: 'plain-builtins',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      chunk.code = chunk.code.replace(
        /(\.then\(\(\)=>)\/\* @__PURE__ \*\/ ?[\w$.]+\((require\("node:[\w/]+"\)),1\)/g,
        '$1$2',
      );
    }
  },
};

/** Gives the source the names of the built threads. It does so before the bundler names a chunk after its content. */
export function namedThreads(threads) {
  const files = new Map(threads.map(({ name, fileName }) => [name, fileName]));
  return {
    name: 'named-threads',
    transform: {
      filter: { code: /import\.meta\.url/ },
      handler: (code) =>
        code.replace(/'\.\/([\w-]+)\.cjs'/g, (written, name) =>
          files.has(name) ? `'./${files.get(name)}'` : written,
        ),
    },
  };
}

/**
 * The chunks that every chat loads give their exports as one object. Some hundred assignments, one by one, leave up to 50 KB of garbage in each
 * chunk at each start, and with that comes V8's first collection. They stand at the end of the chunk, and no export of the source changes
 * after that.
 */
export const exportsAtOnce = {
  name: 'exports-at-once',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle).filter(({ name }) =>
      ['main', 'embedded', 'upstream'].includes(name),
    )) {
      const { start, end, fields } = exportsAtEnd(chunk.code);
      if (fields.length !== chunk.exports.length)
        throw new Error(
          `${chunk.fileName} has ${chunk.exports.length} exports; ${fields.length} were found.`,
        );
      // Main has given the lines that all chunks share by then.
      const all = [...(chunk.name === 'main' ? ['runtime:exports.runtime'] : []), ...fields].join();
      chunk.code = `${chunk.code.slice(0, start)}module.exports={${all}};${chunk.code.slice(end)}`;
    }
  },
};

/** The assignments at the end of the code, before the footer of a chunk, as fields of an object. */
function exportsAtEnd(code) {
  const one =
    /(?:exports\.([\w$]+)=([\w$.]+)|Object\.defineProperty\(exports,["`]([\w$]+)["`],\{enumerable:!0,get:function\(\)\{return ?([\w$]+|`[^`$\\]*`)\}\}\))[,;]/y;
  const end = code.lastIndexOf('\n})');
  for (const { index: start } of code.matchAll(
    /(?<![\w$.])(?:exports\.|Object\.defineProperty\(exports,)/g,
  )) {
    const fields = [];
    for (let at = start; at < end; at = one.lastIndex) {
      one.lastIndex = at;
      const found = one.exec(code);
      if (found === null) break;
      fields.push(`${found[1] ?? found[3]}:${found[2] ?? found[4]}`);
      if (one.lastIndex === end) return { start, end, fields };
    }
  }
  return { start: end, end, fields: [] };
}

/**
 * Of undici, its pool of connections, what connects it, and its agent for proxies: all else (WebSocket, caches, fetch) is not used.
 * HTTP/2 is offered to servers only when asked for; of Node's own http undici wants to know a class that it is never given here, and
 * a number; of node:assert, the plainest form. Loading them takes longer than all the rest of a start.
 */
export const leanUndici = {
  name: 'lean-undici',
  resolveId: {
    filter: { id: /^undici$|\/client-h2\.js$|^node:(http|assert)$/ },
    handler(id, importer) {
      if (id === 'undici') return undici;
      return importer?.includes('/node_modules/undici/') ? `${undici}/${basename(id)}` : null;
    },
  },
  load: {
    filter: { id: /^\0undici/ },
    handler: (id) => undiciParts[id.slice(undici.length)],
  },
};

const undiciParts = {
  '': `Object.defineProperties(exports, {
    Pool: { enumerable: true, get: () => require('undici/lib/dispatcher/pool.js') },
    buildConnector: { enumerable: true, get: () => require('undici/lib/core/connect.js') },
    ProxyAgent: {
      enumerable: true,
      get() {
        // Its way to a proxy is a method that only the whole of undici gives to its classes.
        require('undici/lib/dispatcher/dispatcher.js').prototype.connect = require('undici/lib/api/api-connect.js');
        return require('undici/lib/dispatcher/proxy-agent.js');
      },
    },
  });`,
  '/client-h2.js': "module.exports = () => { throw new Error('HTTP/2 was not offered'); };",
  '/node:assert': `module.exports = (value, message) => {
    if (!value) throw message instanceof Error ? message : new Error(message || 'undici: an assertion failed');
  };`,
  '/node:http': 'exports.IncomingMessage = class {}; exports.maxHeaderSize = 16384;',
};

/**
 * Bundles the JavaScript of better-sqlite3 (a dozen files; finding them takes Node 5 ms) and leaves its binary where npm
 * built it. The two belong together, and an install may choose another version than this build saw: then all of it is
 * loaded from where it was installed.
 */
export function bundledSqlite() {
  const { version, dependencies } = require('better-sqlite3/package.json');
  // Since 13 the binary is looked up by a module of its own, beside it.
  const code =
    dependencies.bindings === undefined
      ? "module.exports = require('better-sqlite3');"
      : `module.exports = require('better-sqlite3/package.json').version === '${version}'
        ? require(${JSON.stringify(require.resolve('better-sqlite3'))})
        : require('better-sqlite3');`;
  return {
    name: 'bundled-sqlite',
    resolveId: {
      filter: { id: /^(better-sqlite3(\/.*)?|bindings)$/ },
      handler(id, importer) {
        if (id === 'better-sqlite3/package.json') {
          return importer === sqliteManifest ? { id, external: true } : sqliteManifest;
        }
        if (importer === sqlite || importer === sqliteBinding) return { id, external: true };
        return id === 'bindings' ? sqliteBinding : sqlite;
      },
    },
    load: {
      filter: { id: /^\0better-sqlite3/ },
      handler: (id) => sqliteParts(code)[id.slice(sqlite.length)],
    },
  };
}

function sqliteParts(code) {
  return {
    '': code,
    // Both are taken from where Node would find them first of all: its search for a module takes 0.3 ms. Any failure is left to it.
    '-binding': `
      module.exports = () => {
        const binding = { exports: {} };
        try {
          process.dlopen(binding, __dirname + '/../node_modules/better-sqlite3/build/Release/better_sqlite3.node');
          return binding.exports;
        } catch {
          return require('better-sqlite3/build/Release/better_sqlite3.node');
        }
      };`,
    '-manifest': `
      const { readFileSync } = require('node:fs');
      try {
        module.exports = JSON.parse(readFileSync(__dirname + '/../node_modules/better-sqlite3/package.json', 'utf8'));
      } catch {
        module.exports = require('better-sqlite3/package.json');
      }`,
  };
}
