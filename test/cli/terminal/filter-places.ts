// The places that show untrusted text: replies, titles, names of modes, errors and earlier messages, each by the code that shows it. A text
// arrives in chunks: a reply as a stream; where a text is shown as a whole, each chunk is a field of its own.

import { chatOutput } from '../../../src/cli/chat-output.ts';
import { runModels } from '../../../src/cli/commands/models.ts';
import { runGet } from '../../../src/cli/commands/sessions/get.ts';
import { runList } from '../../../src/cli/commands/sessions/list.ts';
import { runMessages } from '../../../src/cli/commands/sessions/messages.ts';
import { describeFailure, reportInWords } from '../../../src/cli/error-report.ts';
import { requireMode } from '../../../src/cli/mode-choice.ts';
import { modeChoices, sessionChoices } from '../../../src/cli/repl/argument-choices.ts';
import { Conversation } from '../../../src/cli/repl/conversation.ts';
import type { Prompt } from '../../../src/cli/repl/line-layout.ts';
import { LinePainter } from '../../../src/cli/repl/line-painter.ts';
import { showPastTurns } from '../../../src/cli/repl/past-turns.ts';
import { reportReplFailure } from '../../../src/cli/repl/repl-failure.ts';
import { shownReply } from '../../../src/cli/repl/shown-reply.ts';
import type { UntrustedWriter } from '../../../src/cli/terminal/output.ts';
import { replyWriter } from '../../../src/cli/terminal/reply-writer.ts';
import { turnNotes } from '../../../src/cli/turn-notes.ts';
import type { ChatReply } from '../../../src/service/chat-event.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import type { HostileServer } from './hostile-server.ts';
import { runRepl } from './run-repl.ts';

export type PlaceKind = 'reply' | 'title' | 'mode name' | 'error' | 'history';

export interface FilterPlace {
  readonly kind: PlaceKind;
  readonly name: string;
  /** Shows the text on the terminal of the given server. */
  show(pieces: readonly string[], server: HostileServer): Promise<void>;
}

const nothing = { modes: [], titles: [], messages: [] };

async function written(pieces: readonly string[], writer: UntrustedWriter): Promise<void> {
  for (const piece of pieces) await writer.write(piece);
  await writer.endLine();
}

function replyOf(reply: string, mode: string): ChatReply {
  return {
    ...{ session_id: 'ses_1', message_id: 'msg_1', mode, reply, finish_reason: 'stop' as const },
    ...{ created_at: '2026-01-01T00:00:00.000Z', message_count: 2, usage: null, turns_left_out: 0 },
  };
}

/** The REPL up to its first prompt, drawn at each of these widths, and then left. */
async function prompted(
  mode: string,
  title: string,
  widths: readonly number[],
  server: HostileServer,
): Promise<void> {
  const context = server.context.withSignal(new AbortController().signal);
  const conversation = new Conversation({ mode, markdown: 'auto' });
  conversation.enter('ses_1', title);
  await runRepl(context, conversation, async (promptFor) => {
    for (const columns of widths) drawn(context, '', promptFor(columns));
    return { kind: 'left' };
  });
}

function drawn(
  { stdout: output }: HostileServer['context'],
  text: string,
  prompt: Prompt = { text: '', styled: '' },
) {
  const painter = new LinePainter({ output, measure: (part) => part.length, reflows: false });
  painter.finish(prompt, { text, cursor: 0, pastes: [] });
}

/** The sequences of the first drawing of a line, and of its end: the moves of the cursor, and the clearing below. */
const frame = ['\r\x1b[K\x1b[C\x1b[J\r', '\r\n'] as const;

/** The output without the moves of the line painter. */
export function withoutFrame(text: string): string {
  return text.replaceAll(frame[0], '').replaceAll(frame[1], '\n');
}

/** Each width cuts a title at another place; every-field.test.ts attacks every field of a response. */
const narrowAndWide = [...Array.from({ length: 10 }, (_, index) => 20 + 8 * index), 400];

export const filterPlaces: readonly FilterPlace[] = [
  {
    kind: 'reply',
    name: 'a reply as it is',
    show: async (pieces, { context }) =>
      written(pieces, await replyWriter(context.stdout, { markdown: 'never', signal: context.signal })),
  },
  {
    kind: 'reply',
    name: 'a reply as Markdown',
    show: async (pieces, { context }) =>
      written(pieces, await replyWriter(context.stdout, { markdown: 'auto', signal: context.signal })),
  },
  {
    kind: 'reply',
    name: 'a reply and its notes in the REPL',
    show: async (pieces, { context }) => {
      const shown = await shownReply('auto', context);
      for (const text of pieces) await shown.take({ event: 'reasoning', data: { text } });
      for (const text of pieces) await shown.take({ event: 'delta', data: { text } });
      await shown.end(pieces);
    },
  },
  {
    kind: 'reply',
    name: 'a reply and its notes in a chat',
    show: async (pieces, { context }) => {
      const output = chatOutput('text', context, {
        isNewSession: true,
        request: () => ({ mode: 'any', session_id: null }),
        usage: false,
        markdown: 'never',
      });
      for (const text of pieces) await output.write({ event: 'reasoning', data: { text } });
      for (const text of pieces) await output.write({ event: 'delta', data: { text } });
      const whole = replyOf(pieces.join(''), pieces[0] ?? '');
      await output.write({ event: 'done', data: whole, body: {} });
    },
  },
  {
    kind: 'title',
    name: 'the titles of a list',
    show: async (titles, server) => {
      server.says({ ...nothing, titles });
      await runList({ limit: 50, sort: 'updated' }, server.context);
    },
  },
  {
    kind: 'title',
    name: 'the title of a session',
    show: async (titles, server) => {
      server.says({ ...nothing, titles });
      await runGet(
        titles.map((_, at) => `ses_${at}`),
        {},
        server.context,
      );
    },
  },
  {
    kind: 'title',
    name: 'the titles to choose from',
    show: async (titles, server) => {
      server.says({ ...nothing, titles });
      const choices = await sessionChoices('', server.context);
      await server.context.stdout.write(choices.map(({ label }) => `${label}\n`).join(''));
      for (const { value } of choices) drawn(server.context, value);
    },
  },
  {
    kind: 'title',
    name: 'a title at the prompt, beside the name of a mode',
    show: async ([mode = '', ...title], server) => {
      if (title.length === 0) await prompted('m', mode, narrowAndWide, server);
      else await prompted(mode, title.join(''), [400], server);
    },
  },
  {
    kind: 'mode name',
    name: 'the table of modes',
    show: async (modes, server) => {
      server.says({ ...nothing, modes });
      await runModels(server.context);
    },
  },
  {
    kind: 'mode name',
    name: 'the modes to choose from',
    show: async (modes, server) => {
      server.says({ ...nothing, modes });
      const choices = await modeChoices('', server.context);
      await server.context.stdout.write(choices.map(({ label }) => `${label}\n`).join(''));
      for (const { value } of choices) drawn(server.context, value);
    },
  },
  {
    kind: 'mode name',
    name: 'a mode at the prompt, beside a title',
    show: async ([title = '', ...mode], server) => {
      if (mode.length === 0) await prompted(title, 't', narrowAndWide, server);
      else await prompted(mode.join(''), title, [400], server);
    },
  },
  {
    kind: 'mode name',
    name: 'a mode that there is not, beside those that there are',
    show: async (modes, server) => {
      server.says({ ...nothing, modes });
      for (const mode of modes)
        await requireMode(`${mode} `, server.context).catch((error) =>
          reportReplFailure(error, server.context),
        );
    },
  },
  {
    kind: 'mode name',
    name: 'a mode that replied in place of another',
    show: async ([mode = '', ...asked], { context }) => {
      for (const note of turnNotes(replyOf('', mode), { mode: asked.join(''), session_id: mode }))
        await context.say(note);
    },
  },
  {
    kind: 'error',
    name: 'errors in the REPL',
    show: async (pieces, { context }) => {
      for (const piece of pieces) await reportReplFailure(failure(piece, piece), context);
      await reportReplFailure(failure(pieces[0] ?? '', pieces.slice(1).join('')), context);
    },
  },
  {
    kind: 'error',
    name: 'errors of a command',
    show: async (pieces, { context }) => {
      for (const piece of pieces) await reportInWords(failure(piece, piece), context);
      await reportInWords(failure(pieces[0] ?? '', pieces.slice(1).join('')), context);
    },
  },
  {
    kind: 'error',
    name: 'errors that nobody is left to report',
    show: async (pieces, { context }) => {
      for (const piece of pieces) await context.stderr.write(describeFailure(failure(piece, piece)).text);
      await context.stderr.write(describeFailure(new Error(pieces.join(''))).text);
    },
  },
  {
    kind: 'history',
    name: 'the turns of before',
    show: async (messages, server) => {
      server.says({ ...nothing, messages });
      await showPastTurns('ses_1', 'never', server.context);
    },
  },
  {
    kind: 'history',
    name: 'the turns of before as Markdown',
    show: async (messages, server) => {
      server.says({ ...nothing, messages });
      await showPastTurns('ses_1', 'always', server.context);
    },
  },
  {
    kind: 'history',
    name: 'the messages of a session',
    show: async (messages, server) => {
      server.says({ ...nothing, messages });
      await runMessages('ses_1', { markdown: 'auto' }, server.context);
    },
  },
  {
    kind: 'history',
    name: 'lines that were typed before',
    show: async (lines, { context }) => {
      for (const line of lines) drawn(context, line);
    },
  },
];

function failure(message: string, hint: string): ParleyError {
  return new ParleyError('ENGINE_FAILED', message, { hint });
}
