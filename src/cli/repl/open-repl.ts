// Puts the REPL together: a context of its own, the source of lines that suits the terminal, and the session to continue.

import { storeKey } from '../../config/profiles.ts';
import { resolveMode, resolveTarget, type Target } from '../../config/settings.ts';
import { ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { CliHost } from '../cli-host.ts';
import { forkSession } from '../commands/sessions/fork.ts';
import type { CliContext } from '../context.ts';
import { noEditor } from '../ephemeral-option.ts';
import { type ContinuedSession, sessionToContinue } from '../session-choice.ts';
import { withSession } from '../session-reference.ts';
import { changeSettings, readSettings, type SettingFlags } from '../setting-options.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { complete } from './completion.ts';
import { Conversation } from './conversation.ts';
import { LineHistory } from './line-history.ts';
import { LineReader } from './line-reader.ts';
import type { LineSource } from './line-source.ts';
import { showPastTurns } from './past-turns.ts';
import { PlainLineReader } from './plain-line-reader.ts';
import { Repl } from './repl.ts';
import { withRotatedKey } from './rotated-key.ts';
import { slashCommands } from './slash-commands.ts';
import { reflowsItsLine } from './terminal-reflow.ts';
import { tellTrouble } from './trouble.ts';

export interface ReplInput {
  readonly session: string | null;
  readonly continue: boolean;
  readonly mode: string | null;
  /** The person whose the new sessions are, and the session to continue; null for nobody, and for anybody. */
  readonly user: string | null;
  readonly markdown: MarkdownChoice;
  readonly settings: SettingFlags;
  /** True: it goes on in a copy of the session. */
  readonly fork: boolean;
  /** True: no text of the conversation is kept. */
  readonly ephemeral: boolean;
}

const leaveHint = 'Ctrl-D leaves.';
/** The longest time (ms) that Tab may keep the keys waiting. */
const completionMs = 3000;

export async function openRepl(input: ReplInput, outer: CliContext): Promise<number> {
  const { host, target } = outer;
  const { dataDirectory, locks } = host;
  const mode = resolveMode(input.mode, host.env, target)?.mode ?? null;
  const name = await historyName(target);
  const history = new LineHistory({ dataDirectory, name, locks, keepsNoText: input.ephemeral });
  const conversation = new Conversation({ mode, markdown: input.markdown, user: input.user });
  const context = talkingAbove((write) => source.above(write), outer);
  const source: LineSource =
    host.env['TERM'] === 'dumb' ? plainReader(context) : editingReader(history, context);
  try {
    await enterSession(input, conversation, context);
    return await new Repl({ context, source, history, conversation }).run();
  } finally {
    source.close();
    await context.close();
  }
}

async function enterSession(
  input: ReplInput,
  conversation: Conversation,
  context: CliContext,
): Promise<void> {
  const given = await readSettings(input.settings, null, context.signal);
  const session = await sessionToContinue(input, context);
  if (session === null) {
    conversation.settings = given;
    return;
  }
  const data = input.fork ? await copyOf(session, context) : await readSession(session.sessionId, context);
  const { session_id: sessionId } = data;
  if (input.user !== null && data.user !== input.user) {
    throw new ParleyError('USAGE', `The session ${sessionId} is not of the user that --user names.`, {
      hint: 'Leave out --user to go on with it.',
    });
  }
  conversation.enter(sessionId, typeof data.title === 'string' ? data.title : null);
  const modeOfLastTurn = await showPastTurns(sessionId, context);
  const previousMode = data.mode ?? modeOfLastTurn ?? session.mode;
  if (input.mode === null) conversation.goOnIn(previousMode);
  // A failure to store that must not keep anybody from the session.
  await context.rememberSession(sessionId, previousMode).catch(() => {});
  await changeSettings(data, given, context);
}

async function readSession(named: string, context: CliContext): Promise<Session> {
  return withSession(named, context, async (id) => {
    const { backend } = await context.open();
    return (await backend.service.getSession(await context.call(), id)).data;
  });
}

async function copyOf({ sessionId: id, mode }: ContinuedSession, context: CliContext): Promise<Session> {
  const { data } = await forkSession({ id, at: null, title: null }, context);
  await context.rememberSession(data.session_id, data.mode ?? mode);
  return data;
}

function plainReader({ host, stdout }: CliContext): LineSource {
  return new PlainLineReader({ open: () => host.stdin.open(), output: stdout, job: host.job, leaveHint });
}

function editingReader(history: LineHistory, context: CliContext): LineSource {
  const { host, stdout } = context;
  return new LineReader({
    open: () => host.stdin.open(),
    output: stdout,
    job: host.job,
    reflows: reflowsItsLine(host.env),
    history: () => history.lines,
    leaveHint,
    complete: (text, cursor, signal) =>
      complete(
        text,
        cursor,
        slashCommands.map(({ name, choices }) => ({
          name,
          ...(choices !== undefined && {
            // A failure offers no choices, because its message would break the line that is being edited.
            choices: (beginning: string) =>
              choices(
                beginning,
                context.withSignal(
                  AbortSignal.any([context.signal, signal, AbortSignal.timeout(completionMs)]),
                ),
              ).catch(() => []),
          }),
        })),
      ),
    openEditor: async (text) => {
      try {
        if (context.keepsNoText) throw noEditor();
        const { writeInEditor } = await import('./external-editor.ts');
        return await writeInEditor(text, host.env, context.signal);
      } catch (error) {
        await tellTrouble(error, context);
        return null;
      }
    },
  });
}

/** A backend that is opened while a line is typed writes its messages above that line. */
function talkingAbove(above: LineSource['above'], outer: CliContext): CliContext {
  const { host } = outer;
  return outer.withBackend(async (place, { trace, say, ...others }) => {
    const opened = await host.openBackend(place, {
      ...others,
      followsModes: true,
      say: (line) => above(() => say(line)),
      trace: trace === null ? null : (line) => above(() => trace(line)),
    });
    return withRotatedKey(opened, () => storedKey(place, host));
  });
}

/** The key that the profile has now, if the profile still has the same origin. Null for a key that did not come from a profile. */
function storedKey(
  { profile, url, storeName, origin, insecureHttp, sources }: Target,
  { profileFile, dataDirectory }: Pick<CliHost, 'profileFile' | 'dataDirectory'>,
): string | null {
  if (profile === null || sources.key === 'PARLEY_API_KEY') return null;
  const flags = { profile, url: null, insecureHttp, store: null, insecureStore: false };
  try {
    const config = profileFile.read();
    if (url === null) return storeKey(config, profile, storeName);
    const now = resolveTarget({ flags, env: {}, config, dataDirectory, purpose: 'report' });
    return now.origin === origin ? now.key : null;
  } catch {
    // The refusal of the old key is the error to report.
    return null;
  }
}

/** Each profile has a history of its own, and so has each URL that is given by hand. */
async function historyName({ profile, origin }: Target): Promise<string> {
  if (profile !== null) return profile;
  const { createHash } = await import('node:crypto');
  return `url-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}`;
}
