// The fixtures of imports: files as each program writes them, and references written by hand. `origin` says how the files came about.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionRecord } from '../../src/service/session-archive.ts';

export interface ImportFixture {
  readonly name: string;
  readonly source: string;
  /** `shape`: built from the documented format. Otherwise the program that wrote it, with its version. */
  readonly origin: 'shape' | string;
  /** In the folder of fixtures. */
  readonly path: string;
  /** The file that a mutation cuts, flips and reorders. */
  readonly file: string;
}

/** A session of a reference: role, time, mode and text of each message; `parent` is the index of another session. */
interface ReferenceSession {
  readonly title: string | null;
  readonly created_at: string;
  readonly parent: number | null;
  readonly forked_at: number | null;
  readonly messages: readonly (readonly [role: string, time: string, mode: string, text: string])[];
  readonly system?: string;
}

export interface ImportReference {
  readonly results: readonly string[];
  readonly sessions: readonly ReferenceSession[];
}

const folder = fileURLToPath(new URL('../fixtures/imports/', import.meta.url));

const fixture = (name: string, path: string, file = path, origin = 'shape'): ImportFixture => ({
  ...{ name, source: name.split(' ')[0] ?? name, origin },
  path: `${folder}${path}`,
  file: `${folder}${file}`,
});

export const importFixtures: readonly ImportFixture[] = [
  fixture('chatgpt', 'chatgpt/conversations.json'),
  fixture('claude', 'claude/conversations.json'),
  fixture(
    'claude-code',
    'claude-code/projects',
    'claude-code/projects/-home-ann-work/aaaaaaaa-0000-4000-8000-000000000001.jsonl',
    'written by 2.1.197; branches from the shape',
  ),
  fixture(
    'codex',
    'codex/sessions',
    'codex/sessions/2026/11/23/rollout-2025-05-01T10-00-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl',
    'written by 0.169.0; the first form from the shape',
  ),
  fixture('llm', 'llm/logs.db'),
  fixture('llm threads', 'llm-threads/logs.db'),
  fixture('openai', 'openai/items', 'openai/items/b-lines.jsonl'),
  fixture('aichat', 'aichat/sessions', 'aichat/sessions/rust-help.yaml'),
  fixture(
    'gemini-cli',
    'gemini-cli/chats',
    'gemini-cli/chats/session-2025-08-01T10-00-0b6a.json',
    'written by 0.61.0; the form of one object from the shape',
  ),
  fixture('opencode', 'opencode/opencode.db', 'opencode/opencode.db', 'written by 1.18.33'),
  fixture('opencode 2', 'opencode-2/opencode.db'),
  fixture(
    'opencode files',
    'opencode-files/storage',
    'opencode-files/storage/message/ses_70a1/msg_8f5e2b.json',
  ),
  fixture(
    'opencode early',
    'opencode-early/project',
    'opencode-early/project/home-ann-work/storage/session/message/ses_8a01/msg_75fe02.json',
    'written by 0.5.29; the forms before from their shapes',
  ),
];

export function referenceOf({ path }: ImportFixture): ImportReference {
  return JSON.parse(readFileSync(join(dirname(path), 'reference.json'), 'utf8'));
}

/** The sessions in the form of a reference. */
export function toldSessions(records: readonly SessionRecord[]): readonly ReferenceSession[] {
  const ids = records.map(({ session }) => session.session_id);
  return records.map(({ session, messages }) => ({
    title: session.title,
    created_at: session.created_at,
    parent: session.parent_id == null ? null : ids.indexOf(session.parent_id),
    forked_at: session.forked_at ?? null,
    messages: messages.map(({ role, created_at, mode, content }) => [role, created_at, mode, content]),
    ...(session.system != null && { system: session.system }),
  }));
}
