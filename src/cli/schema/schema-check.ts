// Checks replies against a JSON Schema. The check runs in a thread (checking-thread.ts).
import { ParleyError } from '../../service/errors.ts';
import type { CheckingThread } from './checking-thread.ts';
import type { Fault } from './exact-reader.ts';
import type { SchemaResponse } from './schema-thread.ts';

/** `json` is the value of the reply on one line. `faults` are the reasons why the reply does not match, the most important first. */
export type SchemaJudgement = Exclude<SchemaResponse, { kind: 'ready' | 'refused' }>;

export class SchemaCheck {
  /** The schema on one line, as it is sent with a request. */
  readonly schema: string;
  readonly #text: string;
  readonly #thread: CheckingThread;

  private constructor(text: string, thread: CheckingThread) {
    this.schema = oneLine(text);
    this.#text = text;
    this.#thread = thread;
  }

  /** Rejects with `USAGE` for an invalid schema, or one with a part that cannot be checked. `name` is its name in messages. */
  static async open(text: string, name: string, thread: CheckingThread): Promise<SchemaCheck> {
    const response = await thread.send({ schema: text, reply: null });
    if (response.kind === 'refused') throw refused(name, response.fault);
    return new SchemaCheck(text, thread);
  }

  /** Checks a reply after all earlier ones. */
  async judge(reply: string): Promise<SchemaJudgement> {
    const response = await this.#thread.send({ schema: this.#text, reply });
    if (response.kind === 'match' || response.kind === 'mismatch') return response;
    throw new Error('A schema that was accepted before was refused.');
  }
}

/** Empty for a text that is not JSON, which the thread refuses. */
function oneLine(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return '';
  }
}

function refused(name: string, { place, reason }: Fault): ParleyError {
  const where = place === '' ? '' : ` at ${place}`;
  return new ParleyError('USAGE', `The schema ${name} cannot be used${where}: ${reason}.`, {
    hint: 'Nothing was sent. Replies are checked against JSON Schema 2020-12, and every part of the schema must be checkable.',
    details: [{ field: place, problem: reason }],
  });
}
