// Asks the user questions at the terminal, on stderr, and decides whether a question may be asked at all.
import type { Readable } from 'node:stream';
import { ParleyError } from '../../service/errors.ts';
import { Interruption } from '../interruption.ts';
import type { Job } from '../job.ts';
import { filterLine, filterText } from './filter.ts';
import type { Output } from './output.ts';
import type * as PlainQuestion from './plain-question.ts';
import type { Environment, Style } from './style.ts';

interface PromptConditions {
  readonly stdinIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  readonly noInput: boolean;
  readonly env: Environment;
}

export interface Prompting {
  /** True if questions may be asked: the result of `canPrompt`. */
  readonly allowed: boolean;
  readonly openStdin: () => Readable;
  readonly stderr: Output;
  readonly signal: AbortSignal;
  readonly job: Pick<Job, 'suspend'>;
}

export function canPrompt({ stdinIsTerminal, stderrIsTerminal, noInput, env }: PromptConditions): boolean {
  const { CI = '' } = env;
  return stdinIsTerminal && stderrIsTerminal && !noInput && CI === '';
}

/** Asks for yes or no, with no as the default. Rejects with `USAGE` if nobody can be asked, and names the flag that confirms. */
export async function confirm(question: string, flag: string, prompting: Prompting): Promise<boolean> {
  requirePrompting(`${question} Nobody can be asked here.`, `Confirm with ${flag}.`, prompting);
  if (!prompting.stderr.formats)
    return /^y(es)?$/i.test((await askPlainly(`${question} (y/N)`, prompting)).trim());
  return runPrompt(prompting, async (context, theme) => {
    const { confirm: ask } = await import('@inquirer/prompts');
    return ask({ message: filterText(question), default: false, theme }, context);
  });
}

/** Asks for a secret without showing it. Rejects with `USAGE` if nobody can be asked, and names the flag that reads it from stdin. */
export async function askSecret(question: string, flag: string, prompting: Prompting): Promise<string> {
  requirePrompting(`${question}: nobody can be asked here.`, `Pipe it in with ${flag}.`, prompting);
  if (!prompting.stderr.formats) return askPlainly(`${question} (not shown):`, prompting, { isHidden: true });
  return runPrompt(prompting, async (context, theme) => {
    const { password } = await import('@inquirer/prompts');
    return password({ message: filterText(question), mask: false, theme }, context);
  });
}

/** Asks for a line of text. Rejects with `USAGE` if nobody can be asked, and names the option to use instead. */
export async function askText(question: string, option: string, prompting: Prompting): Promise<string> {
  requirePrompting(`${question}: nobody can be asked here.`, `Pass it with ${option}`, prompting);
  if (!prompting.stderr.formats) return askPlainly(`${question}:`, prompting);
  return runPrompt(prompting, async (context, theme) => {
    const { input } = await import('@inquirer/prompts');
    return input({ message: filterText(question), theme }, context);
  });
}

async function askPlainly(...question: Parameters<typeof PlainQuestion.askPlainly>): Promise<string> {
  const plain = await import('./plain-question.ts');
  return plain.askPlainly(...question);
}

interface ChoiceSource {
  /** The text that narrows the list at the start. */
  readonly initial: string;
  source(
    words: string,
  ): Promise<readonly { readonly value: string; readonly name: string; readonly short: string }[]>;
}

/**
 * Asks for one item of a list that narrows while the user types. The list disappears when an item is chosen. Rejects with `USAGE` if
 * nobody can be asked.
 */
export async function choose(question: string, choices: ChoiceSource, prompting: Prompting): Promise<string> {
  requirePrompting(`${question} Nobody can be asked here.`, 'Name it instead.', prompting);
  // After a suspension the list is shown again with the same words and the same marked item.
  let words = choices.initial;
  let marked: string | null = null;
  const mark = (value: string) => {
    marked = value;
    return '';
  };
  return runPrompt(prompting, async (context, { style, ...look }) => {
    const { search } = await import('@inquirer/prompts');
    const list = {
      message: filterText(question),
      async source(typed: string | undefined) {
        words = typed ?? '';
        const found = await choices.source(words);
        return found.map(({ value, name, short }) => ({
          value,
          description: value,
          name: filterLine(name),
          short: filterLine(short),
        }));
      },
      // inquirer styles the description of the marked item only, so this call tells which item is marked.
      theme: { ...look, style: { ...style, description: (value: string) => mark(value) } },
      ...(words !== '' && { initialValue: words }),
      ...(marked !== null && { default: marked }),
    };
    return untilEscape(context, (signal) => search(list, { ...context, signal, clearPromptOnDone: true }));
  });
}

/** Lets Escape leave the list, which inquirer itself leaves only at Ctrl-C. */
async function untilEscape<T>(
  { input, signal }: PromptContext,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const escaped = new AbortController();
  const leave = (_: unknown, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'escape') escaped.abort();
  };
  input.on('keypress', leave);
  try {
    return await ask(AbortSignal.any([signal, escaped.signal]));
  } finally {
    input.off('keypress', leave);
  }
}

function requirePrompting(message: string, hint: string, { allowed }: Prompting): void {
  if (!allowed) throw new ParleyError('USAGE', message, { hint });
}

type Theme = ReturnType<typeof themeOf>;

/** inquirer derives its colours from the environment alone. This theme has its own look in the colours of the stream. */
function themeOf(style: Style) {
  return {
    prefix: { idle: String(style.blue('?')), done: String(style.green('✔')) },
    style: {
      message: (text: string) => String(style.bold(text)),
      answer: (text: string) => String(style.cyan(text)),
      defaultAnswer: (text: string) => String(style.dim(`(${text})`)),
      error: (text: string) => String(style.red(`> ${text}`)),
    },
  };
}

interface PromptContext {
  readonly input: Readable;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/**
 * Runs one prompt of inquirer, and runs it again after Ctrl-Z and `fg`, because the screen has changed then. Rejects with the reason of the
 * signal, or with an `Interruption` of scope `line` if the user stops it.
 */
export async function runPrompt<T>(
  prompting: Prompting,
  ask: (context: PromptContext, theme: Theme) => Promise<T>,
): Promise<T> {
  const { openStdin, stderr, signal, job } = prompting;
  const { QuestionKeys } = await import('./question-keys.ts');
  const theme = themeOf(await stderr.style());
  for (;;) {
    const left = new AbortController();
    const suspended = new AbortController();
    const input = new QuestionKeys(openStdin(), () => suspended.abort());
    // At Ctrl-D the readline of inquirer closes, and its promise never settles. It then pauses its input, as after an answer.
    input.on('pause', () => left.abort());
    const stop = AbortSignal.any([signal, left.signal, suspended.signal]);
    try {
      return await ask({ input, output: stderr.stream, signal: stop }, theme);
    } catch (error) {
      signal.throwIfAborted();
      const stopped = error instanceof Error && /^(Exit|Abort)PromptError$/.test(error.name);
      if (!stopped) throw error;
      if (!suspended.signal.aborted) throw new Interruption('SIGINT', 'line');
    } finally {
      input.release();
    }
    await job.suspend();
  }
}
