// The REPL in this process, which reads its lines from a function of a test.
import type { CliContext } from '../../../src/cli/context.ts';
import type { Conversation } from '../../../src/cli/repl/conversation.ts';
import { LineHistory } from '../../../src/cli/repl/line-history.ts';
import type { LineSource } from '../../../src/cli/repl/line-source.ts';
import { Repl } from '../../../src/cli/repl/repl.ts';

export async function runRepl(
  context: CliContext,
  conversation: Conversation,
  read: LineSource['read'],
): Promise<void> {
  const source: LineSource = {
    read,
    clearLineHint: '',
    recallHint: '',
    replacesPrompt: true,
    reprompt() {},
    above: (write) => write(),
    onInterrupt() {},
    lend: (borrow) => borrow(),
    close() {},
  };
  const { dataDirectory, locks } = context.host;
  const history = new LineHistory({ dataDirectory, name: 'none', locks });
  await new Repl({ context, source, history, conversation }).run();
}
