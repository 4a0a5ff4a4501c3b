// The thread in which jq runs. It receives texts as messages and sends results. scripts/build.js bundles it as a file of its own.
import { parentPort } from 'node:worker_threads';
import { type JqResult, JqRuntime } from './jq-runtime.ts';

export interface JqRequest {
  readonly filter: string;
  readonly texts: string;
}

/** `overflow`: the output exceeds the limit, and may have no end. `unstartable`: jq did not start. */
export type JqResponse = JqResult | { readonly overflow: number } | { readonly unstartable: string };

const maxBytes = 128 * 1024 * 1024;

const respond = (response: JqResponse) => parentPort?.postMessage(response);
const runtime = new JqRuntime(maxBytes, () => respond({ overflow: maxBytes }));

parentPort?.on('message', ({ filter, texts }: JqRequest) => {
  runtime
    .run(filter, texts)
    .then(respond, (error: unknown) =>
      respond({ unstartable: error instanceof Error ? error.message : String(error) }),
    );
});
