// The thread in which jq runs. It receives texts as messages and sends results. scripts/build.js makes a file of its own of it.
import { parentPort } from 'node:worker_threads';
import { type JqResult, JqRuntime } from './jq-runtime.ts';

export interface JqOrder {
  readonly filter: string;
  readonly texts: string;
}

/** `overflow`: the output exceeds the limit, and may have no end. `unstartable`: jq did not start. */
export type JqAnswer = JqResult | { readonly overflow: number } | { readonly unstartable: string };

const mostBytes = 128 * 1024 * 1024;

const answer = (message: JqAnswer) => parentPort?.postMessage(message);
const runtime = new JqRuntime(mostBytes, () => answer({ overflow: mostBytes }));

parentPort?.on('message', ({ filter, texts }: JqOrder) => {
  runtime
    .run(filter, texts)
    .then(answer, (error: unknown) =>
      answer({ unstartable: error instanceof Error ? error.message : String(error) }),
    );
});
