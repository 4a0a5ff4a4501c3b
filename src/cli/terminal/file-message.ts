// Puts the text of a file into a message, in a Markdown code block with the name of the file.
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { fileBytes } from '../../system/file-bytes.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { oneLine } from './filter.ts';
import { announceSilence, type InputWait } from './stdin.ts';
import { Utf8Reader } from './utf8-reader.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
};

/** Reads the file and returns its block. */
export async function readFileMessage(path: string, limit: number, waiting: InputWait): Promise<string> {
  return fenceText(path, await readFileText(path, limit, waiting));
}

/** Reads the file and checks it like a message on stdin. The file may be a pipe, as in `-f <(command)`. `limit` is in bytes. */
export async function readFileText(path: string, limit: number, waiting: InputWait): Promise<string> {
  const reader = new Utf8Reader({ name: `The file ${path}`, limit });
  const { signal } = waiting;
  const stopTimer = announceSilence(waiting, `Waiting for the text of ${oneLine(path)} (until end of file).`);
  let text = '';
  try {
    for await (const bytes of fileBytes(path, signal)) {
      stopTimer();
      text += reader.push(bytes);
    }
    return text + reader.end();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ParleyError
      ? error
      : unreadableFile(path, error, 'Nothing was sent. Name a text file that you can read.');
  } finally {
    stopTimer();
  }
}

/**
 * Returns a fenced code block that no line of the text can end, with the name as its info string. A final newline is added if the text
 * has none.
 */
export function fenceText(name: string, text: string): string {
  const info = name.replace(/\p{Cc}/gu, ' ').trim();
  // The info string of a fence of backticks must not contain one (CommonMark 0.31, section 4.5).
  const mark = info.includes('`') ? '~' : '`';
  const runs = text.match(mark === '~' ? /~+/g : /`+/g) ?? [];
  const longestRun = runs.reduce((length, run) => Math.max(length, run.length), 2);
  const fence = mark.repeat(longestRun + 1);
  const separator = info.startsWith(mark) ? ' ' : '';
  return `${fence}${separator}${info}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** `hint` says how to solve the problem. */
export function unreadableFile(path: string, cause: unknown, hint: string): ParleyError {
  const reason = reasons[systemErrorCode(cause)] ?? reasonOf(cause);
  const file = path === '' ? 'A file without a name' : `The file ${path}`;
  return new ParleyError('USAGE', `${file} cannot be read: ${reason}.`, { hint, cause });
}
