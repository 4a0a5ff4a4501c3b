// A context for the work of one line. Ctrl-C stops that work and leaves the rest of the REPL running.
import { CliContext } from '../context.ts';

/** The same context with another signal. */
export function scopedContext(context: CliContext, signal: AbortSignal): CliContext {
  const { host, options } = context;
  const scoped = new CliContext(
    { ...host, signal, stopSignal: signal, openBackend: () => context.open() },
    options,
  );
  scoped.talkTo(context.target);
  return scoped;
}
