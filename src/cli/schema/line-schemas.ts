// The schemas in the lines of a batch. Each is parsed and tried once, and one thread checks all replies.
import { hasCode, ParleyError } from '../../service/errors.ts';
import { CheckingThread } from './checking-thread.ts';
import { ReplyRule } from './reply-rule.ts';
import { SchemaCheck } from './schema-check.ts';

/** How many schemas are cached. */
const maxRules = 100;

export class LineSchemas {
  readonly #repairs: number;
  readonly #thread: CheckingThread;
  /** Keyed by the text of the schema, the oldest first. */
  readonly #rules = new Map<string, Promise<ReplyRule>>();

  constructor(repairs: number, signal: AbortSignal) {
    this.#repairs = repairs;
    this.#thread = new CheckingThread(signal);
  }

  /** Rejects with `INVALID_REQUEST`, which names the line, for a schema that cannot be checked completely. */
  async ruleOf(schema: string, line: number): Promise<ReplyRule> {
    const rule = this.#rules.get(schema) ?? this.#open(schema);
    try {
      return await rule;
    } catch (error) {
      if (!hasCode(error, 'USAGE')) {
        // It may be tried again.
        this.#rules.delete(schema);
        throw error;
      }
      const [{ field: place, problem } = { field: '', problem: error.message }] = error.details;
      const where = place === '' ? '' : ` at ${place}`;
      throw new ParleyError(
        'INVALID_REQUEST',
        `Line ${line}: the schema cannot be used${where}: ${problem}.`,
        {
          hint: 'This line was not sent. Every part of a schema (JSON Schema 2020-12) must be checkable.',
          details: [{ field: `line ${line}, schema${place}`, problem }],
        },
      );
    }
  }

  #open(schema: string): Promise<ReplyRule> {
    const rule = SchemaCheck.open(schema, '', this.#thread).then(
      (check) => new ReplyRule(check, this.#repairs),
    );
    this.#rules.set(schema, rule);
    const [oldest] = this.#rules.keys();
    if (this.#rules.size > maxRules && oldest !== undefined) this.#rules.delete(oldest);
    return rule;
  }
}
