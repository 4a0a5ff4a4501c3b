// A preload that makes Linux look like another system to a program, as far as Parley can see: the name of the platform, the files of the
// kernel, and on Windows file modes, signals, directories that cannot be synced, and open files that cannot be replaced.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Variables } from './parley.ts';

export type OtherSystem = 'darwin' | 'freebsd' | 'win32';

/** The environment of a program on this system. The directory gets the preload. */
export function environmentOf(system: OtherSystem, directory: string): Variables {
  const preload = join(directory, `${system}.cjs`);
  writeFileSync(preload, system === 'win32' ? `${everywhere(system)}${windows}` : everywhere(system));
  return { NODE_OPTIONS: `--require ${preload}`, TEMP: directory };
}

const everywhere = (system: OtherSystem) => `'use strict';
const fs = require('node:fs');
const path = require('node:path');
const usual = { ...fs };
Object.defineProperty(process, 'platform', { value: '${system}' });
const missing = ${system === 'win32' ? /^\/(proc|sys|dev\/(null|urandom|tty))(\/|$)/ : /^\/(proc|sys)(\/|$)/};
const failure = (code, syscall, path) => Object.assign(new Error(code + ': ' + syscall), { code, syscall, path });
for (const name of ['openSync', 'readFileSync', 'statSync', 'lstatSync', 'readlinkSync', 'readdirSync'])
  fs[name] = (place, ...rest) => {
    if (!missing.test(String(place))) return usual[name](place, ...rest);
    if (rest[0]?.throwIfNoEntry === false) return undefined;
    throw failure('ENOENT', name.replace('Sync', ''), place);
  };
// better-sqlite3 13 has a binding for each platform. That of Linux is the one that can be loaded.
const Module = require('node:module');
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => {
  const binding = /\\/(prebuilds\\/[\\w-]+|build\\/Release\\/better_sqlite3)\\.node$/;
  const ofLinux = request.replace(binding, '/prebuilds/linux-' + process.arch + '.node');
  return resolveFilename(usual.existsSync(ofLinux) ? ofLinux : request, ...rest);
};
`;

const windows = `
// Paths stay those of Linux.
Object.assign(path.win32, { join: path.posix.join, resolve: path.posix.resolve });
for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
  const stat = fs[name];
  fs[name] = (...words) => {
    const stats = stat(...words);
    if (typeof stats?.mode === 'number') stats.mode |= 0o666;
    return stats;
  };
}
fs.chmodSync = fs.fchmodSync = () => {};
fs.fsyncSync = (file) => {
  if (usual.fstatSync(file).isDirectory()) throw failure('EPERM', 'fsync');
  usual.fsyncSync(file);
};
fs.renameSync = (from, to) => {
  const stats = usual.statSync(to, { throwIfNoEntry: false });
  for (const file of stats === undefined ? [] : usual.readdirSync('/proc/self/fd')) {
    const open = usual.statSync('/proc/self/fd/' + file, { throwIfNoEntry: false });
    if (open?.dev === stats.dev && open.ino === stats.ino) throw failure('EPERM', 'rename', to);
  }
  usual.renameSync(from, to);
};
delete process.getuid;
const { kill } = process;
process.kill = (pid, signal) => {
  if (/^SIG(TSTP|CONT|HUP|USR)/.test(String(signal))) throw new TypeError('Unknown signal: ' + signal);
  return kill.call(process, pid, signal);
};
`;
