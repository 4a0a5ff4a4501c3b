// Which terminal a process runs in, by Linux's process table and by the variables that terminals set.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseProcessStat } from '../../src/system/process-stat.ts';
import { terminalIdentity } from '../../src/system/terminal-identity.ts';

const rest = '-1 4194304 100 0 0 0 0 0 0 0 20 0 1 0';

function stat(name: string, session: number, terminal: number, startTime: number): string {
  return `501 (${name}) S 500 501 ${session} ${terminal} ${rest} ${startTime} 3133440 380\n`;
}

function onLinux(
  files: Record<string, string>,
  env: Record<string, string> = {},
  device: number | null = null,
): string | null {
  const readText = (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Error('ENOENT');
    return text;
  };
  return terminalIdentity({ platform: 'linux', env, readText, device: () => device });
}

test.each(['node', 'tmux: server', 'a) S 1 2 3 (b', '((', 'new\nline', ''])(
  'a program named %j is parsed',
  (name) => {
    expect(parseProcessStat(stat(name, 400, 34816, 155448))).toEqual({
      hasEnded: false,
      parent: 500,
      session: 400,
      terminal: 34816,
      startTime: '155448',
    });
  },
);

test.each(['', '501', '501 (node) S 1 2', '501 (node', 'x) S 1 1 a 0 '])(
  '%j is no line of the process table',
  (text) => {
    expect(parseProcessStat(text)).toBeNull();
  },
);

if (process.platform === 'linux') {
  test('the line of this process is parsed', () => {
    const read = parseProcessStat(readFileSync('/proc/self/stat', 'utf8'));
    // It is zero if the session leader is outside of the container of this process.
    expect(read?.session).toBeGreaterThanOrEqual(0);
    expect(Number(read?.startTime)).toBeGreaterThan(0);
  });
}

test('a terminal is identified by its device, its session leader and the start of the leader', () => {
  const self = stat('node', 400, 34816, 900);
  const of = (own: string, leader: string) =>
    onLinux({ '/proc/self/stat': own, '/proc/400/stat': leader, '/proc/401/stat': leader });
  const here = of(self, stat('bash', 400, 34816, 100));
  expect(here).not.toBeNull();
  expect(of(stat('other) (', 400, 34816, 901), stat('bash', 400, 34816, 100))).toBe(here);
  expect(of(stat('node', 400, 34817, 900), stat('bash', 400, 34816, 100))).not.toBe(here);
  expect(of(stat('node', 401, 34816, 900), stat('bash', 401, 34816, 100))).not.toBe(here);
  expect(of(self, stat('bash', 400, 34816, 101))).not.toBe(here);
});

test('without a controlling terminal there is none, whatever the variables say', () => {
  expect(onLinux({ '/proc/self/stat': stat('node', 400, 0, 900) }, { TERM_SESSION_ID: 'w0' })).toBeNull();
});

test('without a visible leader, a terminal is identified by its device and session', () => {
  const identity = onLinux({ '/proc/self/stat': stat('node', 400, 34816, 900) });
  expect(identity).toContain('34816 400');
  expect(onLinux({ '/proc/self/stat': stat('node', 0, 34816, 900) })).toContain('34816 0');
});

test('without a process table, the variables identify the terminal', () => {
  expect(onLinux({}, { TERM_SESSION_ID: 'w0' })).toBe('TERM_SESSION_ID=w0');
  expect(onLinux({})).toBeNull();
});

test('without a process table and variables the device of a standard stream is the terminal', () => {
  expect(onLinux({}, {}, 7)).toBe('device 7');
  expect(onLinux({}, { TERM_SESSION_ID: 'w0' }, 7)).toBe('TERM_SESSION_ID=w0');
  expect(onLinux({ '/proc/self/stat': stat('node', 400, 0, 900) }, {}, 7)).toBeNull();
});

test.each([
  [{ TERM_SESSION_ID: 'w0t1' }, 'TERM_SESSION_ID=w0t1'],
  [{ ITERM_SESSION_ID: 'w0t1' }, 'ITERM_SESSION_ID=w0t1'],
  [{ WT_SESSION: 'guid' }, 'WT_SESSION=guid'],
  [{ TMUX: '/tmp/s,1,0', TMUX_PANE: '%3', TERM_SESSION_ID: 'w0t1' }, 'TMUX=/tmp/s,1,0 TMUX_PANE=%3'],
  [{ TMUX_PANE: '%3', TERM_SESSION_ID: 'w0t1' }, 'TERM_SESSION_ID=w0t1'],
  [{ STY: '7.pts', WINDOW: '0', WINDOWID: '9' }, 'STY=7.pts WINDOW=0'],
  [{ KITTY_PID: '4', KITTY_WINDOW_ID: '1' }, 'KITTY_PID=4 KITTY_WINDOW_ID=1'],
  [{ WEZTERM_UNIX_SOCKET: '/s', WEZTERM_PANE: '2' }, 'WEZTERM_UNIX_SOCKET=/s WEZTERM_PANE=2'],
  [{ WINDOWID: '9' }, 'WINDOWID=9'],
  [{ SSH_CONNECTION: 'a 1 b 22', SSH_TTY: '/dev/pts/1' }, 'SSH_CONNECTION=a 1 b 22 SSH_TTY=/dev/pts/1'],
  [{ TERM_SESSION_ID: '', WINDOWID: '' }, null],
  [{}, null],
])('on another system %j is the terminal %j', (env: Record<string, string>, identity) => {
  const readText = () => {
    throw new Error('no process table');
  };
  expect(terminalIdentity({ platform: 'darwin', env, readText, device: () => null })).toBe(identity);
});
