// `parley sessions messages`: all messages of a session, of both sides.
import { type Command, Option } from 'commander';
import type { Printing, ServiceAccess } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';
import { markdownMessage } from '../../transcripts/markdown.ts';
import { readMessages } from '../../transcripts/session-reading.ts';

export interface MessagesInput {
  readonly id: string;
  /** `json` is a message a line. */
  readonly format: 'md' | 'json';
  /** True: also the replies beside the visible ones, and the turns that were taken back. */
  readonly all: boolean;
}

interface MessagesFlags extends Pick<MessagesInput, 'format'> {
  readonly all?: true;
}

export function registerMessages(parent: Command, run: Run): void {
  parent
    .command('messages')
    .description('print what was said in a session (--json: a body a page)')
    .argument('<id>', 'session id')
    .addOption(
      new Option('--format <format>', 'md, or json: a message a line').choices(['md', 'json']).default('md'),
    )
    .option('--all', 'also the replies that others took the place of, and the turns that were taken back')
    .action((id: string, { format, all }: MessagesFlags, command: Command) =>
      run(command, (context) => runMessages({ id, format, all: all ?? false }, context)),
    );
}

export async function runMessages(
  input: MessagesInput,
  context: ServiceAccess & Printing,
): Promise<undefined> {
  for await (const text of messageTexts(input, context)) await context.stdout.write(text);
}

/** What is printed, in chunks: the reader decides when the next page is asked for. */
export async function* messageTexts(
  { id, format, all }: MessagesInput,
  context: ServiceAccess & Printing,
): AsyncGenerator<string> {
  idsFromWords([id]);
  let gap = '';
  for await (const { items, body } of readMessages(id, context, all)) {
    if (context.options.json) yield `${toJson(body)}\n`;
    else if (format === 'json') yield items.map((item) => `${toJson(item)}\n`).join('');
    else {
      for (const message of items) {
        yield gap + markdownMessage(message);
        gap = '\n';
      }
    }
  }
}
