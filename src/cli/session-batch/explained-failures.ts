// Explains the failures of the items of a batch on stderr: the first ones, because a lost disk or a wrong file may fail a hundred thousand
// items for one reason, or all of them with `--verbose`.
import type { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { reportInWords } from '../error-report.ts';
import { maxShown } from './batch-report.ts';

export class ExplainedFailures {
  readonly #context: CliContext;
  readonly #explainsAll: boolean;
  #count = 0;

  constructor(context: CliContext, explainsAll: boolean) {
    this.#context = context;
    this.#explainsAll = explainsAll;
  }

  /** `item` names what failed, for the line before the failure. `prepare` is called if the failure is explained. */
  async explain(item: string, error: ParleyError, prepare: () => Promise<void> | void): Promise<void> {
    this.#count += 1;
    if (!this.#explainsAll && this.#count > maxShown) return;
    await prepare();
    await this.#context.say(`${item}:`);
    await reportInWords(error, this.#context);
  }

  /** Says how many failures were not explained. */
  async sumUp(): Promise<void> {
    const unexplained = this.#explainsAll ? 0 : this.#count - maxShown;
    if (unexplained > 0)
      await this.#context.say(
        `${counted(unexplained, 'more failure')} not explained; --verbose explains all.`,
      );
  }
}
