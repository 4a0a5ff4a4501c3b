// `parley sessions messages` and `parley sessions show`: print all messages of a session. A terminal gets them rendered, through the pager; a
// pipe gets Markdown.
import { type Command, Option } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { Message } from '../../../service/session.ts';
import type { CliContext, ServiceAccess } from '../../context.ts';
import { markdownOption } from '../../markdown-option.ts';
import type { Run } from '../../run.ts';
import { oneSession } from '../../session-argument.ts';
import { readInSession, resolveSession, type SessionAccess } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';
import type { Output } from '../../terminal/output.ts';
import { type MarkdownChoice, rendersMarkdown } from '../../terminal/reply-writer.ts';
import { throughPager } from '../../terminal/through-pager.ts';
import { markdownMessage } from '../../transcripts/markdown.ts';
import { readMessages } from '../../transcripts/session-reading.ts';
import { TerminalTranscript } from '../../transcripts/terminal-transcript.ts';
import { utcOption } from '../../utc-option.ts';

interface MessagesFlags {
  /** `json` is one message per line. Without it, the messages are rendered at a terminal, and Markdown elsewhere. */
  readonly format?: 'md' | 'json';
  readonly markdown: MarkdownChoice;
  readonly utc?: boolean;
  /** True to include replaced replies and undone turns. */
  readonly all?: boolean;
}

export function registerMessages(parent: Command, run: Run): void {
  register(parent, run, 'messages', 'show the messages of a session (--json: one body per page)');
}

export function registerShow(parent: Command, run: Run): void {
  register(parent, run, 'show', 'an alias of messages');
}

function register(parent: Command, run: Run, name: string, description: string): void {
  const format = new Option(
    '--format <format>',
    'the format: md, or json with one message per line (default: rendered, or md in a pipe)',
  );
  parent
    .command(name)
    .description(description)
    .argument('<id>', oneSession)
    .addOption(format.choices(['md', 'json']))
    .option('--all', 'include replaced replies and undone turns')
    .addOption(markdownOption())
    .addOption(utcOption())
    .action(run(runMessages));
}

export async function runMessages(id: string, flags: MessagesFlags, context: CliContext): Promise<void> {
  const { stdout, options } = context;
  if (options.json && flags.format === 'md') {
    throw new ParleyError('USAGE', '--json and --format md cannot both apply to stdout.', {
      hint: 'Remove one of them.',
    });
  }
  const isRendered = flags.format === undefined && !options.json && rendersMarkdown(stdout, flags.markdown);
  if (isRendered) return throughPager(context, (output) => showMessages(id, flags, output, context));
  for await (const text of messageTexts({ id, all: false, format: 'md', ...flags }, context))
    await stdout.write(text);
}

async function showMessages(
  id: string,
  { markdown, utc = false, all = false }: MessagesFlags,
  output: Output,
  context: CliContext,
): Promise<void> {
  const { host, signal } = context;
  // Times in a pipe are those of the service.
  const transcript = new TerminalTranscript(output, {
    markdown,
    utc: utc || !output.isTerminal,
    now: host.now(),
    signal,
  });
  for await (const { items } of pagesOf(id, all, context)) {
    for (const message of items) {
      if (output.gone.aborted) return;
      await transcript.show(message);
    }
  }
}

/** The output for programs, in chunks. The next page is requested when the reader needs it. */
export async function* messageTexts(
  { id, format, all }: { readonly id: string; readonly format: 'md' | 'json'; readonly all: boolean },
  context: SessionAccess & Pick<CliContext, 'options'>,
): AsyncGenerator<string> {
  let gap = '';
  for await (const { items, body } of pagesOf(id, all, context)) {
    if (format === 'json') yield items.map((item) => `${toJson(item)}\n`).join('');
    else if (context.options.json) yield `${toJson(body)}\n`;
    else {
      for (const message of items) {
        yield gap + markdownMessage(message);
        gap = '\n';
      }
    }
  }
}

async function* pagesOf(
  text: string,
  all: boolean,
  context: SessionAccess & ServiceAccess,
): AsyncGenerator<{ readonly items: readonly Message[]; readonly body: unknown }> {
  const { id } = await resolveSession(text, context);
  yield* readInSession({ text, id }, context, (resolved) => readMessages(resolved, context, all));
}
