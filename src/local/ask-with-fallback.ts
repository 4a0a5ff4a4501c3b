// Asks the engine of a turn. If that engine fails before it has shown anything, the engine of its fallback mode is asked. Before the events
// of each engine, an event `engine` names its mode.
import type { EngineEvent, ReplyEngine } from '../engine/reply-engine.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import { schemaInstructions } from '../service/schema-instructions.ts';
import { estimateTokens, messageTokens } from '../service/token-estimate.ts';
import type { TurnBegin } from '../store/session-store.ts';
import { type ContextBudget, contextWindow } from './context-window.ts';
import type { LocalOptions } from './local-options.ts';

export interface AskedEngine {
  readonly mode: string;
  readonly turnsLeftOut: number;
  /** The failure of the requested mode; null for its own engine. */
  readonly failure: ParleyError | null;
}

type AskEvent = EngineEvent | ({ readonly type: 'engine' } & AskedEngine);

interface AskOptions {
  readonly signal: AbortSignal;
  readonly showReasoning: boolean;
  readonly schema: string | undefined;
}

/** A turn with the settings that its session had at its begin. */
type TurnWithSettings = Pick<Extract<TurnBegin, { kind: 'begun' }>, 'turn' | 'settings'>;

/** Failures after which another engine may succeed. */
const engineFailures: readonly ErrorCode[] = [
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'RATE_LIMITED',
  'UNAVAILABLE',
];

/** The events of the engine that replies. Throws the failure of the requested mode if its fallback fails too, or if there is none. */
export async function* askWithFallback(
  local: LocalOptions,
  projectId: string,
  begunTurn: TurnWithSettings,
  engine: ReplyEngine,
  options: AskOptions,
): AsyncGenerator<AskEvent> {
  const { signal, showReasoning } = options;
  const tried = new Set<string>();
  let firstFailure: unknown = null;
  for (let mode = begunTurn.turn.mode, current = engine; ; ) {
    tried.add(mode);
    let hasEvents = false;
    try {
      const { events, turnsLeftOut } = await askEngine(local, projectId, begunTurn, current, options);
      const failure = firstFailure instanceof ParleyError ? firstFailure : null;
      yield { type: 'engine', mode, turnsLeftOut, failure };
      for await (const event of events) {
        if (event.type === 'reasoning' && !showReasoning && !current.showsReasoning) {
          // The text is not shown. The event is passed on because its time counts as the time of the first chunk.
          yield { type: 'reasoning', text: '' };
          continue;
        }
        hasEvents = true;
        yield event;
        if (event.type === 'finish') return;
      }
      throw new ParleyError('ENGINE_FAILED', `The engine ${current.name} ended without finishing its reply.`);
    } catch (error) {
      const failure = firstFailure === null ? error : bothFailed(firstFailure, mode, error);
      firstFailure ??= error;
      const next = hasEvents || signal.aborted || !isEngineFailure(error) ? null : (current.fallback ?? null);
      if (next === null || tried.has(next)) throw failure;
      const nextEngine = fallbackEngine(local, next, failure);
      mode = next;
      current = nextEngine;
    }
  }
}

/** Asks one engine, with as much of the history as it takes. */
async function askEngine(
  local: LocalOptions,
  projectId: string,
  { turn, settings }: TurnWithSettings,
  engine: ReplyEngine,
  { signal, schema }: AskOptions,
): Promise<{ readonly events: AsyncIterable<EngineEvent>; readonly turnsLeftOut: number }> {
  const { store } = local;
  const windowWithin = (budget: ContextBudget) =>
    contextWindow(
      (before, limit) => store.history(projectId, turn.session_id, before, limit),
      turn.position,
      turn.content,
      budgetWith(schema, budget),
      settings,
    );
  let window = await windowWithin(engine);
  if (window.turnsLeftOut > 0 && engine.learnContextTokens !== undefined) {
    const contextTokens = await engine.learnContextTokens(signal);
    window = await windowWithin({ historyMessages: engine.historyMessages, contextTokens });
  }
  const { history, message, turnsLeftOut } = window;
  const context = { history, message, schema, ...settings };
  return { events: engine.reply(context, { signal }), turnsLeftOut };
}

/** The schema takes a part of the budget, in whatever form the model gets it. */
function budgetWith(schema: string | undefined, budget: ContextBudget): ContextBudget {
  const { historyMessages, contextTokens } = budget;
  if (schema === undefined || contextTokens === undefined) return budget;
  const tokens = messageTokens(estimateTokens(schemaInstructions(schema)));
  return { historyMessages, contextTokens: contextTokens - tokens };
}

/** The engine of the fallback mode. A mode whose settings are faulty counts as failed. */
function fallbackEngine({ engines }: LocalOptions, mode: string, failure: unknown): ReplyEngine {
  let engine: ReplyEngine | null;
  try {
    engine = engines.engine(mode);
  } catch (error) {
    throw bothFailed(failure, mode, error);
  }
  if (engine === null) throw failure;
  return engine;
}

function isEngineFailure(error: unknown): boolean {
  return !(error instanceof ParleyError) || engineFailures.includes(error.code);
}

/** The failure of the mode that was asked for. The failure of its fallback is added to the hint. */
function bothFailed(first: unknown, mode: string, error: unknown): unknown {
  if (!(first instanceof ParleyError)) return first;
  const other = error instanceof ParleyError ? error.message : 'the engine failed.';
  return first.with({ hint: `Its fallback ${mode} failed, too: ${other} ${first.hint}`.trim() });
}
