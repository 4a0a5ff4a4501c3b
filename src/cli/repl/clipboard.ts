// Copies text into the clipboard through the terminal (OSC 52, which also works over ssh) and through the tool of the desktop. Both are
// used, because a terminal does not say whether it copied the text.
import type { Output } from '../terminal/output.ts';
import type { Environment } from '../terminal/style.ts';
import { terminalText } from '../terminal/terminal-text.ts';

interface ClipboardOptions {
  readonly terminal: Output;
  readonly env: Environment;
}

type Tool = readonly [program: string, ...words: string[]];

/** Terminals refuse a longer sequence. */
const maxBytes = 74_994;
const toolTimeoutMs = 2000;

/** Returns the names of the methods that were used, such as `xclip`. Empty if none is available. */
export async function copyToClipboard(
  text: string,
  { terminal, env }: ClipboardOptions,
): Promise<readonly string[]> {
  const methods: string[] = [];
  const bytes = Buffer.from(text);
  for (const tool of toolsOf(env)) {
    if (await succeeds(tool, bytes, env)) {
      methods.push(tool[0]);
      break;
    }
  }
  if (bytes.length <= maxBytes && env['TERM'] !== 'dumb') {
    await terminal.write(terminalText`\x1b]52;c;${bytes.toString('base64')}\x07`);
    methods.push('OSC 52');
  }
  return methods;
}

function toolsOf(env: Environment): readonly Tool[] {
  return [
    ...(env['WAYLAND_DISPLAY'] ? [['wl-copy'] as const] : []),
    ...(env['DISPLAY'] ? [['xclip', '-selection', 'clipboard'] as const, ['xsel', '-ib'] as const] : []),
    ['pbcopy'],
    ['clip.exe'],
  ];
}

async function succeeds([program, ...words]: Tool, bytes: Buffer, env: Environment): Promise<boolean> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(program, words, {
      stdio: ['pipe', 'ignore', 'ignore'],
      // pbcopy of macOS reads bytes that are not ASCII in the encoding of the locale. xclip and xsel do not depend on it.
      env: { ...env, LC_ALL: 'en_US.UTF-8' },
      timeout: toolTimeoutMs,
    });
    child.on('error', () => resolve(false));
    child.on('exit', (status) => resolve(status === 0));
    child.stdin.on('error', () => resolve(false));
    child.stdin.end(bytes);
  });
}
