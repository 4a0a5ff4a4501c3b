// What is done at one line has an end of its own: Ctrl-C stops it, and nothing else of the REPL.
import { CliContext } from '../context.ts';

/** The same context, stopped by another signal. */
export function scopedContext(context: CliContext, signal: AbortSignal): CliContext {
  const { host, options } = context;
  const scoped = new CliContext(
    { ...host, signal, stopSignal: signal, openBackend: () => context.open() },
    options,
  );
  scoped.talkTo(context.target);
  return scoped;
}
