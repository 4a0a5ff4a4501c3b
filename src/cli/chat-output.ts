// A chat's events on the standard streams, in the form that was asked for.
import { failureBody } from '../service/answer.ts';
import type { ChatEvent, ChatReply } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { CliContext } from './context.ts';
import { toJson } from './terminal/json.ts';
import { waiting } from './terminal/progress.ts';
import { replyWriter } from './terminal/reply-writer.ts';
import { startTimer } from './terminal/timer.ts';

/** `text` as it comes, `whole` text at the end, `json` the one body at the end, `events` a JSON line each. */
export type ChatFormat = 'text' | 'whole' | 'json' | 'events';

export interface ChatOutput {
  take(event: ChatEvent): Promise<void>;
  /** The chat failed, or was stopped: leaves the streams so that an error can be told. */
  fail(error: unknown): Promise<void>;
}

/** `raw`: no Markdown styling. */
export function chatOutput(format: ChatFormat, raw: boolean, context: CliContext): ChatOutput {
  switch (format) {
    case 'json':
      return {
        take: async (event) => {
          if (event.event === 'done') await context.stdout.write(`${toJson(event.body)}\n`);
        },
        fail: async () => {},
      };
    case 'events':
      return {
        take: (event) => writeEvent(event.event, 'body' in event ? event.body : success(event.data), context),
        fail: async (error) => {
          if (!(error instanceof ParleyError)) return;
          await writeEvent('error', failureBody(error, context.requestId), context);
        },
      };
    default:
      return textOutput(format === 'text', raw, context);
  }
}

const success = (data: unknown) => ({ success: true, data });

function writeEvent(event: string, body: unknown, { stdout }: CliContext): Promise<void> {
  return stdout.write(`${toJson({ event, ...(body as object) })}\n`);
}

function textOutput(streams: boolean, raw: boolean, context: CliContext): ChatOutput {
  // It loads while the reply is awaited. A failure is told where it is first used.
  const opening = replyWriter(context.stdout, { raw });
  opening.catch(() => {});
  const spinner = waiting(() => context.stderr, 'Waiting for the reply', {
    quiet: context.options.quiet,
    startTimer,
    now: context.host.now,
  });
  let begun = false;
  return {
    async take(event) {
      if (event.event === 'delta' && streams) {
        spinner.stop();
        begun = true;
        await (await opening).write(event.data.text);
      } else if (event.event === 'done') {
        spinner.stop();
        const writer = await opening;
        // A server that does not stream has sent no piece.
        if (!begun) await writer.write(event.data.reply);
        await writer.endLine();
        await tellEnd(event.data, context);
      }
    },
    async fail() {
      spinner.stop();
      if (!begun) return;
      const writer = await opening;
      if (context.stdout.isTerminal) await writer.endLine();
      else await writer.end();
    },
  };
}

async function tellEnd(reply: ChatReply, context: CliContext): Promise<void> {
  if (reply.finish_reason === 'length')
    await context.say('The reply ends here because it reached its limit.');
  if (!context.stdout.isTerminal || context.options.quiet) return;
  const { dim } = await context.stderr.style();
  const id = context.stderr.visible(reply.session_id);
  await context.stderr.write(dim(`session ${id}, go on with: parley chat -c "…"`).concat('\n'));
}
