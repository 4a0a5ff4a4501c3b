// The sources of imports. A file is read by the first that recognises it.
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
  ...[chatgpt, claude, geminiCli, claudeCode, codex, llm, aichat, opencode],
  // Its shape is the least distinct.
  openai,
];

/** Null for a file that no source recognises. */
export function sourceOf(head: FileHead): Source | null {
  return sources.find((source) => source.recognises(head)) ?? null;
}

/** True for a file that an export has beside its conversations: an export of that source, or of any for null. */
export function isCompanion(path: string, from: string | null): boolean {
  return sources.some(({ name, companions }) => (from === null || from === name) && companions?.test(path));
}

/** Throws for a name that is none of {@link sources}. */
export function sourceNamed(name: SourceName): Source {
  const source = sources.find((one) => one.name === name);
  if (source === undefined) throw new TypeError(`There is no source ${name}.`);
  return source;
}
