// The sources of imports. The first one that recognises a file reads it.
import type { FileHead, Source, SourceName } from './source.ts';
import { aichat } from './sources/aichat.ts';
import { chatgpt } from './sources/chatgpt.ts';
import { claude } from './sources/claude.ts';
import { claudeCode } from './sources/claude-code.ts';
import { codex } from './sources/codex.ts';
import { geminiCli } from './sources/gemini-cli.ts';
import { llm } from './sources/llm.ts';
import { openai } from './sources/openai.ts';
import { opencode } from './sources/opencode.ts';

export const sources: readonly Source[] = [
  chatgpt,
  claude,
  geminiCli,
  claudeCode,
  codex,
  llm,
  aichat,
  opencode,
  // Last, because its shape is the least distinctive.
  openai,
];

/** Null for a file that no source recognises. */
export function sourceOf(head: FileHead): Source | null {
  return sources.find((source) => source.recognises(head)) ?? null;
}

/** True for a file that the exports of a source contain besides the conversations. `from` is null for any source. */
export function isCompanion(path: string, from: string | null): boolean {
  return sources.some(({ name, companions }) => (from === null || from === name) && companions?.test(path));
}

/** Throws if {@link sources} has no such name. */
export function sourceNamed(name: SourceName): Source {
  const source = sources.find((one) => one.name === name);
  if (source === undefined) throw new TypeError(`There is no source ${name}.`);
  return source;
}
