// The progress of a search at a terminal: a spinner, and a bar while the embedded service adds messages to the search index.
import type { Call } from '../../../service/call.ts';
import { type BatchProgress, itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { showWaiting, type Waiting } from '../../terminal/progress.ts';

export class SearchProgress {
  readonly #context: CliContext;
  #spinner: Waiting;
  #bar: BatchProgress | null = null;

  constructor(context: CliContext) {
    this.#context = context;
    this.#spinner = this.#spin();
  }

  /** The call, with its progress shown. */
  watch(call: Call): Call {
    const notice: Call['notice'] = (sign) => {
      if (sign.kind === 'indexing') this.#index(sign.messages, sign.of);
    };
    return { ...call, notice };
  }

  stop(): void {
    this.#spinner.stop();
    this.#bar?.stop();
  }

  #index(messages: number, of: number): void {
    if (this.#bar === null) {
      this.#spinner.stop();
      this.#bar = itemProgress(this.#context, 'indexed', of);
    }
    while (this.#bar.finished < messages) this.#bar.finish('indexed');
    if (messages < of) return;
    this.#bar.stop();
    this.#bar = null;
    this.#spinner = this.#spin();
  }

  #spin(): Waiting {
    return showWaiting('Searching', this.#context);
  }
}
