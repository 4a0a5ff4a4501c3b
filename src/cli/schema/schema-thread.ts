// The thread in which replies are checked. It receives a schema with a reply, and sends the judgement. scripts/build.js makes a file of its
// own of it.
import { parentPort } from 'node:worker_threads';
import { toJson } from '../terminal/json.ts';
import { type Fault, UnreadableJson } from './exact-reader.ts';
import { SchemaValidator } from './schema-validator.ts';

export interface SchemaOrder {
  readonly schema: string;
  /** Null: the schema alone is read. */
  readonly reply: string | null;
}

/** `json`: the value of a reply that matches, on one line. `refused`: why the schema cannot be used. */
export type SchemaAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'match'; readonly json: string }
  | { readonly kind: 'mismatch'; readonly faults: readonly Fault[] }
  | { readonly kind: 'refused'; readonly fault: Fault };

/** By the texts of their schemas, the one that was used last at the end. */
const validators = new Map<string, SchemaValidator>();
/** A batch may name a schema in each line. One that was let go is compiled again. */
const mostValidators = 100;

function answer({ schema, reply }: SchemaOrder): SchemaAnswer {
  let validator: SchemaValidator;
  try {
    validator = validators.get(schema) ?? new SchemaValidator(schema);
    validators.delete(schema);
    validators.set(schema, validator);
    const [oldest] = validators.keys();
    if (validators.size > mostValidators && oldest !== undefined) validators.delete(oldest);
  } catch (error) {
    if (error instanceof UnreadableJson) return { kind: 'refused', fault: error.fault };
    throw error;
  }
  if (reply === null) return { kind: 'ready' };
  const judgement = validator.judge(reply);
  if ('faults' in judgement) return { kind: 'mismatch', faults: judgement.faults };
  return { kind: 'match', json: toJson(judgement.value) };
}

parentPort?.on('message', (order: SchemaOrder) => parentPort?.postMessage(answer(order)));
