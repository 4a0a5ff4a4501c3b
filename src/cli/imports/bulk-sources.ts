// The sources whose exports are one large file with many conversations. They need only its bytes, so a thread can read it.
import type { Source } from './source.ts';
import { chatgpt } from './sources/chatgpt.ts';
import { claude } from './sources/claude.ts';
import { openai } from './sources/openai.ts';

export const bulkSources: readonly Source[] = [chatgpt, claude, openai];
