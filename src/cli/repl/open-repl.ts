// Opens the REPL: with a context of its own, the line source that suits the terminal, and the session to continue.

import { storeKey } from '../../config/profiles.ts';
import { resolveMode, resolveTarget, type Target } from '../../config/settings.ts';
import { ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { CliHost } from '../cli-host.ts';
import { forkSession } from '../commands/sessions/fork.ts';
import { type CliContext, targetWords } from '../context.ts';
import { noEditor } from '../ephemeral-option.ts';
import { type ContinuedSession, type SessionFlags, sessionToContinue } from '../session-choice.ts';
import { fetchNamedSession } from '../session-reference.ts';
import { changeSettings, readSettings, type SettingFlags } from '../setting-options.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import type { Environment } from '../terminal/style.ts';
import { fileChoices } from './argument-choices.ts';
import { type CompletableCommand, complete } from './completion.ts';
import { Conversation } from './conversation.ts';
import { LineHistory } from './line-history.ts';
import { LineReader } from './line-reader.ts';
import type { LineSource } from './line-source.ts';
import { showPastTurns } from './past-turns.ts';
import { PlainLineReader } from './plain-line-reader.ts';
import { Repl } from './repl.ts';
import { reportReplFailure } from './repl-failure.ts';
import { withRotatedKey } from './rotated-key.ts';
import { slashCommands } from './slash-commands.ts';

export interface ReplInput extends SessionFlags, SettingFlags {
  readonly mode?: string;
  /** The user of new sessions. A session to continue must belong to this user. Without it, new sessions have no user, and any session fits. */
  readonly user?: string;
  readonly markdown: MarkdownChoice;
  /** Continues a copy of the session. */
  readonly fork?: true;
  /** Stores no text of the conversation. */
  readonly ephemeral?: true;
}

const leaveHint = 'Press Ctrl-D to leave.';
/** The longest time (ms) that a completion may delay the keys that follow Tab. */
const completionMs = 3000;

export async function openRepl(input: ReplInput, outer: CliContext): Promise<number> {
  const { host, target } = outer;
  const { dataDirectory, locks } = host;
  const mode = resolveMode(input.mode ?? null, host.env, target)?.mode ?? null;
  const name = await historyName(target);
  const history = new LineHistory({ dataDirectory, name, locks, keepsNoText: input.ephemeral ?? false });
  const conversation = new Conversation({ mode, markdown: input.markdown, user: input.user ?? null });
  const context = withMessagesAbove((write) => source.above(write), outer);
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
  const settings = await readSettings(input, null, context.signal);
  const session = await sessionToContinue(input, context);
  if (session === null) {
    conversation.settings = settings;
    return;
  }
  const data = input.fork
    ? await copyOf(session, context)
    : await fetchNamedSession(session.sessionId, context);
  const { session_id: sessionId } = data;
  if (input.user !== undefined && data.user !== input.user) {
    throw new ParleyError('USAGE', `Session ${sessionId} does not belong to the user named by --user.`, {
      hint: 'Omit --user to continue it.',
    });
  }
  conversation.enter(sessionId, typeof data.title === 'string' ? data.title : null);
  const modeOfLastTurn = await showPastTurns(sessionId, input.markdown, context);
  const modeBefore = data.mode ?? modeOfLastTurn ?? session.mode;
  if (input.mode === undefined) conversation.continueInMode(modeBefore);
  // The session can be continued even if it cannot be stored as the current one.
  await context.rememberSession(sessionId, modeBefore).catch(() => {});
  await changeSettings(data, settings, context);
}

async function copyOf({ sessionId: id, mode }: ContinuedSession, context: CliContext): Promise<Session> {
  const { data } = await forkSession(id, {}, context);
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
      complete(text, cursor, completableCommands(signal, context), (beginning) =>
        fileChoices(beginning, host.env['HOME']),
      ),
    openEditor: async (text) => {
      try {
        if (context.keepsNoText) throw noEditor();
        const { writeInEditor } = await import('./external-editor.ts');
        return await writeInEditor(text, host.env, context.signal);
      } catch (error) {
        await reportReplFailure(error, context);
        return null;
      }
    },
  });
}

/**
 * True if a resized terminal wraps the line at its prompt again. No terminal reports that, so its name decides. Most terminals do: tmux, and the
 * terminals of GNOME, KDE, macOS and Windows, kitty, Alacritty, WezTerm, foot. These do not: xterm, the Linux console, GNU screen, and xterm.js
 * (Visual Studio Code), which does not reflow the line that holds the cursor.
 */
function reflowsItsLine(env: Environment): boolean {
  if (env['TMUX']) return true;
  return !(env['XTERM_VERSION'] || env['STY'] || env['TERM'] === 'linux' || env['TERM_PROGRAM'] === 'vscode');
}

/** A failure offers no choices, because its message would break the line that is being edited. */
function completableCommands(signal: AbortSignal, context: CliContext): readonly CompletableCommand[] {
  const stoppable = () =>
    context.withSignal(AbortSignal.any([context.signal, signal, AbortSignal.timeout(completionMs)]));
  return slashCommands.map(({ name, choices }) => ({
    name,
    ...(choices !== undefined && {
      choices: (beginning: string) => choices(beginning, stoppable()).catch(() => []),
    }),
  }));
}

/** A backend that is opened while a line is typed writes its messages above that line. */
function withMessagesAbove(above: LineSource['above'], outer: CliContext): CliContext {
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

/** The current key of the profile, if the profile still has the same origin. Null for a key that did not come from a profile. */
function storedKey(
  { profile, url, storeName, origin, insecureHttp, sources }: Target,
  { profileFile, dataDirectory }: Pick<CliHost, 'profileFile' | 'dataDirectory'>,
): string | null {
  if (profile === null || sources.key === 'PARLEY_API_KEY') return null;
  const flags = { profile, url: null, insecureHttp, store: null, insecureStore: false, words: targetWords };
  try {
    const config = profileFile.read();
    if (url === null) return storeKey(config, profile, storeName);
    const current = resolveTarget({ flags, env: {}, config, dataDirectory, purpose: 'report' });
    return current.origin === origin ? current.key : null;
  } catch {
    // The refusal of the old key is the error to report.
    return null;
  }
}

/** Each profile has its own history, and so does each URL that is given without a profile. */
async function historyName({ profile, origin }: Target): Promise<string> {
  if (profile !== null) return profile;
  const { createHash } = await import('node:crypto');
  return `url-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}`;
}
