// The modes that answer on a fresh machine: no model, no network, nothing to set up.
import type { Mode } from '../../service/mode.ts';
import type { EngineSet } from '../engine-set.ts';
import type { ReplyEngine } from '../reply-engine.ts';
import { EchoEngine } from './echo.ts';
import { ElizaEngine } from './eliza/eliza-engine.ts';

const modes: readonly Mode[] = [
  {
    name: 'eliza',
    description: 'A conversation after Weizenbaum’s ELIZA of 1966; needs no model',
    engine: 'eliza',
    model: null,
    default: true,
  },
  {
    name: 'echo',
    description: 'Returns the message as it is, for pipes and tests; needs no model',
    engine: 'echo',
    model: null,
    default: false,
  },
];

export function offlineEngines(): EngineSet {
  const engines = new Map<string, ReplyEngine>([
    ['eliza', new ElizaEngine(async () => (await import('./eliza/colleague.ts')).colleague())],
    ['echo', new EchoEngine()],
  ]);
  return { modes, engine: (mode) => engines.get(mode) ?? null };
}
