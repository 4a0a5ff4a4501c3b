// Questions at a terminal without cursor control (TERM=dumb). The terminal edits the line itself, and nothing is redrawn.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Interruption } from '../interruption.ts';
import type { Output } from './output.ts';
import { QuestionKeys } from './question-keys.ts';

interface PlainPrompting {
  readonly openStdin: () => Readable;
  readonly stderr: Output;
  readonly signal: AbortSignal;
}

/** Asks for a line. Rejects with an `Interruption` at Ctrl-C and Ctrl-D. */
export async function askPlainly(
  question: string,
  { openStdin, stderr, signal }: PlainPrompting,
  { isHidden = false } = {},
): Promise<string> {
  signal.throwIfAborted();
  const keys = new QuestionKeys(openStdin(), () => {});
  // In raw mode the terminal does not show what is typed, from the moment that the question is shown.
  if (isHidden) keys.setRawMode(true);
  try {
    await stderr.write(`${question} `);
    const answer = await (isHidden ? hiddenLine(keys, signal) : shownLine(keys, signal));
    // The terminal has shown the Enter of a line that it shows.
    if (isHidden) await stderr.write('\n');
    return answer;
  } catch (error) {
    await stderr.write('\n');
    throw error;
  } finally {
    if (isHidden) keys.setRawMode(false);
    keys.release();
  }
}

/** Lists the choices with numbers, and asks for some of the numbers until the answer is valid. Returns the indexes. */
export async function choosePlainly(
  question: string,
  names: readonly string[],
  { initial, isOne }: { readonly initial: readonly number[]; readonly isOne: boolean },
  prompting: PlainPrompting,
): Promise<readonly number[]> {
  const { stderr } = prompting;
  await stderr.write(names.map((name, at) => `${at + 1}  ${name}\n`).join(''));
  const alone = initial.length === 0 ? 'none' : initial.map((at) => at + 1).join(' ');
  const hint = isOne ? 'Its number:' : `Numbers, with spaces between them (Enter alone: ${alone}):`;
  for (;;) {
    const typed = (await askPlainly(`${question} ${hint}`, prompting)).trim();
    if (typed === '' && !isOne) return initial;
    const chosen = typed.split(/[\s,]+/).map((word) => Number(word) - 1);
    const isValid = chosen.every((at) => Object.hasOwn(names, at)) && (!isOne || chosen.length === 1);
    if (isValid) return [...new Set(chosen)];
    await stderr.write(`Type ${isOne ? 'a number' : 'numbers'} from 1 to ${names.length}.\n`);
  }
}

function shownLine(keys: QuestionKeys, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: keys, terminal: false });
    lines.once('line', resolve);
    lines.once('line', () => lines.close());
    lines.once('close', () => reject(leftQuestion()));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function hiddenLine(keys: QuestionKeys, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    keys.on('data', (data: Buffer) => {
      for (const key of data.toString()) {
        if (key === '\r' || key === '\n') resolve(text);
        else if (key === '\x03' || key === '\x04') reject(leftQuestion());
        else if (key === '\x7f' || key === '\b') text = [...text].slice(0, -1).join('');
        else if (key >= ' ') text += key;
      }
    });
    keys.once('end', () => reject(leftQuestion()));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function leftQuestion(): Interruption {
  return new Interruption('SIGINT', 'line');
}
