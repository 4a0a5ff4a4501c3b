// The sources whose exports are one large file of many conversations. They read it from its bytes alone, so a thread can do it.
import type { Source } from './source.ts';
import { chatgpt } from './sources/chatgpt.ts';
import { claude } from './sources/claude.ts';
import { openai } from './sources/openai.ts';

export const bulkSources: readonly Source[] = [chatgpt, claude, openai];
