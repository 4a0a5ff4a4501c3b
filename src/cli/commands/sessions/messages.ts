// `parley sessions messages`: what was said in a session, both sides, whole.
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
}

export function registerMessages(parent: Command, run: Run): void {
  parent
    .command('messages')
    .description('print what was said in a session (--json: a body a page)')
    .argument('<id>', 'session id')
    .addOption(
      new Option('--format <format>', 'md, or json: a message a line').choices(['md', 'json']).default('md'),
    )
    .action((id: string, { format }: Pick<MessagesInput, 'format'>, command: Command) =>
      run(command, (context) => runMessages({ id, format }, context)),
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
  { id, format }: MessagesInput,
  context: ServiceAccess & Printing,
): AsyncGenerator<string> {
  idsFromWords([id]);
  let gap = '';
  for await (const { items, body } of readMessages(id, context)) {
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
