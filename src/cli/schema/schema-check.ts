// A JSON Schema that replies are checked by. The check runs in a thread (checking-thread.ts).
import { ParleyError } from '../../service/errors.ts';
import type { CheckingThread } from './checking-thread.ts';
import type { Fault } from './exact-reader.ts';
import type { SchemaAnswer } from './schema-thread.ts';

/** `json`: the value of the reply on one line. `faults`: why the reply does not match, the first to tell first. */
export type SchemaJudgement = Exclude<SchemaAnswer, { kind: 'ready' | 'refused' }>;

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

  /** Rejects with `USAGE` for a schema that is none, or of which a part cannot be checked. `name` names it in messages. */
  static async open(text: string, name: string, thread: CheckingThread): Promise<SchemaCheck> {
    const answer = await thread.ask({ schema: text, reply: null });
    if (answer.kind === 'refused') throw refused(name, answer.fault);
    return new SchemaCheck(text, thread);
  }

  /** Judges a reply, after the replies that were given before. */
  async judge(reply: string): Promise<SchemaJudgement> {
    const answer = await this.#thread.ask({ schema: this.#text, reply });
    if (answer.kind === 'match' || answer.kind === 'mismatch') return answer;
    throw new Error('A schema that was read is refused.');
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
    hint: 'Nothing was sent. Replies are checked by JSON Schema 2020-12, and every part of the schema must be checkable.',
    details: [{ field: place, problem: reason }],
  });
}
