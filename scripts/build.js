// Builds dist: bundles src into minified CommonJS, with a chunk for every `await import()`, each with V8's code cache beside it.
// A chunk is a function of (exports, require, module, __filename, __dirname). bin/parley.js calls it, without Node's module resolution.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import {
  asciiComments,
  bundledSqlite,
  exportsAtOnce,
  lazyChildProcess,
  lazyOs,
  lazyTextWidths,
  leanCommander,
  leanUndici,
  namedThreads,
  plainBuiltins,
  runtimeInMain,
} from './build-plugins.js';
import { thirdPartyNotices } from './third-party-notices.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const threads = [
  await writeThread('jq-thread', 'src/cli/terminal/jq-thread.ts', []),
  await writeThread('schema-thread', 'src/cli/schema/schema-thread.ts', []),
  await writeThread('reading-thread', 'src/cli/imports/reading-thread.ts', []),
  await writeThread('store-worker', 'src/compose/served-store-worker.ts', [bundledSqlite()]),
];

const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/main.ts' },
  platform: 'node',
  // Code that several chunks need may be in main, which is always loaded: each chunk costs a start two files to find and to read.
  preserveEntrySignatures: 'allow-extension',
  // Lazily loaded code may be in a chunk that is loaded earlier: the import tree defines dependencies, the groups define chunks.
  checks: { ineffectiveDynamicImport: false },
  plugins: [
    lazyChildProcess,
    lazyOs,
    lazyTextWidths,
    bundledSqlite(),
    leanCommander,
    leanUndici,
    asciiComments,
    runtimeInMain,
    plainBuiltins,
    exportsAtOnce,
    namedThreads(threads),
  ],
});
const { output } = await bundle.write({
  dir: dist,
  format: 'cjs',
  // An `import()` that remains in CommonJS would start Node's loader of ES modules, which takes 10 ms.
  dynamicImportInCjs: false,
  minify: true,
  // One character beyond Latin-1 would double the memory of a chunk's text, and slow down reading it.
  charset: 'ascii',
  // Code that is used together is in one file, even if others use parts of it, because a start must read each file.
  codeSplitting: {
    groups: [
      {
        name: 'start',
        test: /\/src\/(main\.ts$|service\/|system\/(before-abort|process-identity|yield-to-event-loop)\.ts$|cli\/(option-values|remember-session|terminal\/progress)\.ts$)/,
        priority: 4,
      },
      { name: 'chat', test: /\/src\/cli\/commands\/chat\.ts$/, priority: 3.5 },
      // The commands of sessions are the most frequent after a chat.
      { name: 'sessions', test: /\/src\/cli\/commands\/(sessions\/sessions|help)\.ts$/, priority: 3.5 },
      { name: 'commands', test: /\/src\/cli\/all-commands\.ts$/, priority: 3 },
      {
        name: 'embedded',
        // Only one of the two libraries for SQLite is used.
        test: /\/src\/(compose\/embedded-backend|config\/stored-modes|engine\/upstream\/upstream-engine(-set)?|store\/sqlite\/(node|better)-sqlite3?-driver)\.ts$|better-sqlite3/,
        priority: 2,
      },
      // What the clients of model servers and of this API share, and the code of each. The client of this API works without SQLite, so
      // nothing here may need `embedded`.
      { name: 'http', test: /\/src\/http\/|\/node_modules\/eventsource-parser\//, priority: 1 },
      { name: 'upstream', test: /\/src\/engine\/upstream\//, priority: 1 },
      { name: 'remote', test: /\/src\/(remote|wire)\//, priority: 1 },
    ],
  },
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
  postBanner: '(function (exports, require, module, __filename, __dirname) {',
  postFooter: '})',
});

checkChunks();
writeTexts();
await recordCodeCache();
await writeHelp();
await writeManual();
const modules = [...output, ...threads].flatMap(({ modules }) => Object.keys(modules));
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(modules));
const bytes = output.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.code), 0);
process.stdout.write(`dist: ${output.length} chunks, ${Math.round(bytes / 1024)} KiB\n`);

/** A program that Node loads. Its name depends on its content, so that a server never starts the program of a version that replaced its own. */
async function writeThread(name, input, plugins) {
  const thread = await rolldown({ cwd: root, input: { [name]: input }, platform: 'node', plugins });
  const { output } = await thread.write({
    dir: dist,
    format: 'cjs',
    codeSplitting: false,
    dynamicImportInCjs: false,
    minify: true,
    entryFileNames: '[name]-[hash].cjs',
  });
  return output[0];
}

/** Checks the properties that make a start fast, which tests of behaviour do not notice. */
function checkChunks() {
  for (const { fileName, name, code, imports, modules } of output) {
    const late = ['main', 'embedded'].includes(name) ? Object.keys(modules).filter(isLate) : [];
    if (late.length > 0)
      throw new Error(`${fileName} contains modules that no turn needs: ${late.join(', ')}.`);
    // bin/parley.js reads the chunks as Latin-1. The bundler does not escape tagged templates.
    if (/[^\0-\x7f]/.test(code)) throw new Error(`${fileName} contains characters beyond ASCII.`);
    const needed = {
      main: [],
      chat: ['main'],
      sessions: ['main'],
      embedded: ['main'],
      http: ['main'],
      upstream: ['main', 'http'],
      remote: ['main', 'http'],
    }[name];
    const more = imports.filter((other) => !isNeeded(other, needed));
    if (needed && more.length > 0)
      throw new Error(`${fileName} imports modules that it should not: ${more.join(', ')}.`);
  }
}

/** A turn over the embedded service starts with main and embedded. The calls that need these modules load them. */
function isLate(module) {
  return [
    /\/src\/store\/sqlite\/(rare-calls|schema|migrations|backup|memory-store|store-(lines|rows|row-statements|search))\.ts$/,
    /\/src\/store\/sqlite\/(forks|imports|imported-rows|long-import|ordering|staged-session|purge|purge-rows)\.ts$/,
    /\/src\/store\/sqlite\/(redactions|replaced-session|search|search-(?!backlog)[a-z-]+|turn-moves|usage)\.ts$/,
    /\/src\/local\/(audit-chain|import-rules|local-audit|user-purge|search-[a-z]+|session-lines|store-[a-z]+|backup-[a-z]+)\.ts$/,
    /\/src\/store\/(search-characters|unspaced-scripts)\.ts$/,
  ].some((late) => late.test(module));
}

/**
 * Writes the chunks, the first one after its hash. Each text takes a multiple of eight bytes, so that the code cache after it is aligned. V8
 * stores a text of 128 KiB outside of its young generation. A shorter text of the chat would cause a collection, of most of a millisecond,
 * before the end of a chat.
 */
function writeTexts() {
  for (const { fileName, name, code } of output) {
    const text = name === 'main' ? `${hashComment(code)}${code}` : code;
    const length = Math.max(text.length, name === 'chat' ? 128 * 1024 : 0);
    writeFileSync(join(dist, fileName), text.padEnd(Math.ceil(length / 8) * 8));
  }
}

/** 24 characters, by which bin/parley.js knows whether a code cache is that of this text. */
function hashComment(code) {
  return `/*${createHash('sha256').update(code).digest('base64url').slice(0, 20)}*/`;
}

/** The modules that are not bundled: those of Node, and the shared runtime. */
function isNeeded(other, chunks = []) {
  const [, name] = /^(.+?)(?:-.{8})?\.cjs$/.exec(other) ?? [];
  return name === undefined || name === 'rolldown-runtime' || chunks.includes(name);
}

/** Runs the most frequent commands, with a temporary configuration. Each run adds its code to the cache of the earlier ones. */
async function recordCodeCache() {
  const place = mkdtempSync(join(tmpdir(), 'parley-build-'));
  const server = createServer(answerChat).listen(0, '127.0.0.1');
  // The server is also its own proxy, because requests to other machines use another client than those to this machine.
  server.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    server.emit('connection', socket);
  });
  await once(server, 'listening');
  const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_OPTIONS$|PARLEY_)/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    PARLEY_CONFIG_DIR: join(place, 'config'),
    PARLEY_DATA_DIR: join(place, 'data'),
  };
  const chat = ['chat', '--no-stdin', '--mode', 'echo', 'Hello'];
  const recorder = fileURLToPath(new URL('record-code-cache.cjs', import.meta.url));
  const program = (words) => ['--require', recorder, join(root, 'bin', 'parley.js'), ...words];
  const run = (words, more) =>
    promisify(execFile)(process.execPath, program(words), { env: { ...env, ...more } });
  try {
    // Code that these use in the chunks of a chat would be read at each chat. The first run creates the store.
    const others = { RECORD_WITHOUT: 'main embedded' };
    const { stdout: first } = await run(['chat', '--no-stdin', 'Hello', '--json'], others);
    const named = ['--session', JSON.parse(first).data.session_id];
    await run(['chat', '--no-stdin', 'Hello']);
    await run(chat);
    await run([...chat, '--continue']);
    await run([...chat, ...named]);
    // Scripts pass the message in a pipe. Node would give its children a socket.
    const piped = [
      '-c',
      'printf Hello | "$0" "$@"',
      process.execPath,
      ...program(['chat', '--mode', 'echo']),
    ];
    if (process.platform === 'linux') await promisify(execFile)('sh', piped, { env });
    await run(['sessions', 'list']);
    await run(['sessions', 'get', named[1]]);
    await run(['--help'], others);
    await converse(program(['repl']), { ...env, ...others });
    await run(['__complete', '--', 'sessions', 'get', ''], others);
    const url = `http://127.0.0.1:${server.address().port}`;
    await run([...chat, '--url', url], { PARLEY_API_KEY: 'none' });
    const proxied = {
      PARLEY_API_KEY: 'none',
      HTTP_PROXY: url,
      NO_PROXY: '',
      RECORD_WITHOUT: 'main embedded http',
    };
    await run([...chat, '--url', 'http://parley.test', '--insecure-http'], proxied);
    await run(['modes', 'add', 'model', '--base-url', url, '--model', 'model'], others);
    const ofModel = ['chat', '--no-stdin', '--mode', 'model', 'Hello'];
    await run(ofModel);
    await run([...ofModel, '--continue']);
    await run([...ofModel, ...named]);
  } finally {
    server.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** The text that bin/parley.js prints for `--help` if the output is not a terminal, without loading the program. */
async function writeHelp() {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'bin', 'parley.js'), '--help']);
  writeFileSync(join(dist, 'help.txt'), stdout);
}

/** The manual page, generated from the command tree; package.json names it. */
async function writeManual() {
  const writer = await rolldown({
    cwd: root,
    input: 'scripts/manual/man-page.ts',
    platform: 'node',
    external: /^[^./\0]/,
  });
  const file = join(dist, 'man-page.mjs');
  await writer.write({ file, format: 'esm', codeSplitting: false });
  const { manPage } = await import(pathToFileURL(file).href);
  rmSync(file);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(dist, 'parley.1'), await manPage(version));
}

/** The REPL opens only at a terminal; the recorder makes these descriptors look like one. */
async function converse(program, env) {
  // Writes to /dev/zero are discarded too. On Linux, writes to /dev/null bypass the stream that must look like a terminal.
  const discarded = process.platform === 'linux' ? openSync('/dev/zero', 'w') : 'ignore';
  const repl = spawn(process.execPath, program, {
    env: { ...env, RECORD_TERMINAL: '1', TERM: 'xterm', CI: '' },
    stdio: ['pipe', discarded, discarded],
  });
  repl.stdin.end('Hello\r');
  const [status] = await once(repl, 'exit');
  // The REPL treats the end of its input as a terminal that closes.
  if (status !== 129) throw new Error(`The REPL ended with ${status} while its code was recorded.`);
}

/** A server of one reply, of this API and of a model's, for the client's code to run against. */
function answerChat(request, response) {
  if (request.url.endsWith('/chat/completions')) return answerCompletion(response);
  const data = { session_id: 'ses_1', message_id: 'msg_1', mode: 'echo', text: 'Hello', reply: 'Hello' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of ['session', 'delta', 'done']) {
    response.write(`event: ${event}\ndata: ${JSON.stringify({ success: true, data })}\n\n`);
  }
  response.end();
}

function answerCompletion(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [content, finish_reason] of [
    ['Hello', null],
    ['', 'stop'],
  ]) {
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}
