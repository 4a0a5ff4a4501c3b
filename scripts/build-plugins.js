// Plugins of the bundler for single packages, to keep the start short.
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

/** commander loads `child_process` to run commands that are separate programs. Parley has none, so it is never loaded. */
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

/** A chat whose directories are set by the environment does not need this module. Loading it takes 0.3 ms. */
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
 * The classes of commander, without its default program, which nothing uses, and without the bundler's copy of the exports of a CommonJS
 * package. Both would be created at each start.
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

/** Removes the accents from names in licence comments, which the bundler's `charset` does not change. */
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

/**
 * Makes objects of string-width and wrap-ansi at their first use: ICU takes 10 ms for each, and texts of common scripts need none. V8 reads the
 * regular expression of a literal before it is used.
 */
export const lazyTextWidths = {
  name: 'lazy-text-widths',
  transform: {
    filter: { id: /\/(string-width|wrap-ansi)\/index\.js$/ },
    handler: (code, id) =>
      id.includes('/string-width/')
        ? withLazy(withLazy(code, segmenter), emojiPattern)
        : withLazy(code, segmenter),
  },
};

const segmenter = {
  made: 'segmenter = new Intl.Segmenter()',
  lazy: 'segmenter = { segment(text) { this.own ??= new Intl.Segmenter(); return this.own.segment(text); } }',
};
const emojiPattern = {
  made: String.raw`rgiEmojiRegex = /^\p{RGI_Emoji}$/v`,
  lazy: String.raw`rgiEmojiRegex = { test(text) { this.own ??= new RegExp('^\\p{RGI_Emoji}$', 'v'); return this.own.test(text); } }`,
};

function withLazy(code, { made, lazy }) {
  if (!code.includes(`const ${made};`))
    throw new Error(`A package does not contain "const ${made};" any more.`);
  return code.replace(made, () => lazy);
}

/** Puts the bundler's runtime, which all chunks share, into main, which is always loaded. The bundler would give it a chunk. */
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
 * An `await import()` of a module of Node returns the module itself. The bundler would copy its exports to add a `default`, which nothing
 * here reads.
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

/** Inserts the names of the built threads into the source, before the bundler names a chunk after its content. */
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
 * The chunks that every chat loads assign their exports as one object. Hundreds of single assignments leave up to 50 KB of garbage per chunk
 * at each start, which causes V8's first collection. They are at the end of the chunk, and no export of the source changes after that.
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
      // Main has provided the shared runtime by then.
      const all = [...(chunk.name === 'main' ? ['runtime:exports.runtime'] : []), ...fields].join();
      chunk.code = `${chunk.code.slice(0, start)}module.exports={${all}};${chunk.code.slice(end)}`;
    }
  },
};

/** Converts the assignments at the end of the code, before the footer of a chunk, to fields of an object. */
function exportsAtEnd(code) {
  const one =
    /(?:exports\.([\w$]+)=([\w$.]+|`[^`$\\]*`)|Object\.defineProperty\(exports,["`]([\w$]+)["`],\{enumerable:!0,get:function\(\)\{return ?([\w$]+|`[^`$\\]*`)\}\}\))[,;]/y;
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
 * Bundles only the parts of undici that are used: its pool, its connector, and its proxy agents, but not WebSocket, caches and fetch. HTTP/2 is
 * not used. Of Node's `http` undici needs only a class, which it never gets here, and a number; of node:assert only its simplest form. Loading
 * these modules takes longer than the rest of a start.
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
  // Its warning, that support for SOCKS is experimental, does not help the user of a program.
  transform: {
    filter: { id: /\/socks5-proxy-agent\.js$/ },
    handler: (code) =>
      code.replace('let experimentalWarningEmitted = false', 'let experimentalWarningEmitted = true'),
  },
};

const undiciParts = {
  '': `Object.defineProperties(exports, {
    Pool: { enumerable: true, get: () => require('undici/lib/dispatcher/pool.js') },
    buildConnector: { enumerable: true, get: () => require('undici/lib/core/connect.js') },
    ProxyAgent: {
      enumerable: true,
      get() {
        // Its method to connect to a proxy is added only by the main module of undici.
        require('undici/lib/dispatcher/dispatcher.js').prototype.connect = require('undici/lib/api/api-connect.js');
        return require('undici/lib/dispatcher/proxy-agent.js');
      },
    },
    Socks5ProxyAgent: { enumerable: true, get: () => require('undici/lib/dispatcher/socks5-proxy-agent.js') },
  });`,
  '/client-h2.js': "module.exports = () => { throw new Error('HTTP/2 was not offered'); };",
  '/node:assert': `module.exports = (value, message) => {
    if (!value) throw message instanceof Error ? message : new Error(message || 'undici: an assertion failed');
  };`,
  '/node:http': 'exports.IncomingMessage = class {}; exports.maxHeaderSize = 16384;',
};

/**
 * Bundles the JavaScript of better-sqlite3 (a dozen files, which Node takes 5 ms to resolve) and leaves its binary in the installed package. The
 * two must match. If the installed version differs from that of the build, the whole package is loaded from where it is installed.
 */
export function bundledSqlite() {
  const { version, dependencies } = require('better-sqlite3/package.json');
  // Since version 13 a separate module beside the binary finds it.
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
    // Both are loaded from the first place where Node would look, because its module resolution takes 0.3 ms. On any failure Node resolves them.
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
