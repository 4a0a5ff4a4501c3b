// The thread that jq runs in: texts come in as messages, and results go out. scripts/build.js makes a file of its own of it.
import { parentPort } from 'node:worker_threads';
import { type JqResult, JqRuntime } from './jq-runtime.ts';

export interface JqOrder {
  readonly filter: string;
  readonly texts: string;
}

/** `overflow`: it gives more than the limit, and may never be through; `unstartable`: jq itself did not come up. */
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
