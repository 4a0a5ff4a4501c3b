// A queue of messages that arrive as events and are read one by one.

export class MessageQueue<Message> {
  readonly #messages: Message[] = [];
  #failure: { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;

  add(message: Message): void {
    this.#messages.push(message);
    this.#wake?.();
  }

  /** Makes `next` reject, even if messages are waiting. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  async next(): Promise<Message> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
