// The modes that need no model, no network and no settings.
import { offlineModes } from '../../service/mode-settings.ts';
import type { EngineSet } from '../engine-set.ts';
import type { ReplyEngine } from '../reply-engine.ts';
import { EchoEngine } from './echo.ts';
import { ElizaEngine } from './eliza/eliza-engine.ts';

export function offlineEngines(): EngineSet {
  const engines = new Map<string, ReplyEngine>([
    ['eliza', new ElizaEngine(async () => (await import('./eliza/colleague.ts')).colleague())],
    ['echo', new EchoEngine()],
  ]);
  return { modes: offlineModes, engine: (mode) => engines.get(mode) ?? null };
}
