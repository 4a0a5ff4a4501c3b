// The thread that checks replies. It receives a schema with a reply, and sends the result. scripts/build.js bundles it into its own file.
import { parentPort } from 'node:worker_threads';
import { toJson } from '../terminal/json.ts';
import { type Fault, UnreadableJson } from './exact-reader.ts';
import { SchemaValidator } from './schema-validator.ts';

export interface SchemaRequest {
  readonly schema: string;
  /** Null to check only the schema. */
  readonly reply: string | null;
}

/** `json` is the value of a reply that matches, on one line. `refused` means that the schema cannot be used. */
export type SchemaResponse =
  | { readonly kind: 'ready' }
  | { readonly kind: 'match'; readonly json: string }
  | { readonly kind: 'mismatch'; readonly faults: readonly Fault[] }
  | { readonly kind: 'refused'; readonly fault: Fault };

/** Keyed by the text of the schema, the last used at the end. */
const validators = new Map<string, SchemaValidator>();
/** How many compiled schemas are cached. A batch may have a different one in each line. */
const maxValidators = 100;

function respond({ schema, reply }: SchemaRequest): SchemaResponse {
  let validator: SchemaValidator;
  try {
    validator = validators.get(schema) ?? new SchemaValidator(schema);
    validators.delete(schema);
    validators.set(schema, validator);
    const [oldest] = validators.keys();
    if (validators.size > maxValidators && oldest !== undefined) validators.delete(oldest);
  } catch (error) {
    if (error instanceof UnreadableJson) return { kind: 'refused', fault: error.fault };
    throw error;
  }
  if (reply === null) return { kind: 'ready' };
  const judgement = validator.judge(reply);
  if ('faults' in judgement) return { kind: 'mismatch', faults: judgement.faults };
  return { kind: 'match', json: toJson(judgement.value) };
}

parentPort?.on('message', (request: SchemaRequest) => parentPort?.postMessage(respond(request)));
