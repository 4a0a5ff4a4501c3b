// A session without its secrets: a mark stands in the place of each.
import type { Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { secretsIn, withoutSecrets } from './found-secrets.ts';

/** Replaces the secrets of texts, and counts them by their kind. */
export class Redaction {
  readonly #counts = new Map<string, number>();

  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** `2 jwt, 1 card_number`. */
  get summary(): string {
    return [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  }

  text(text: string): string {
    const secrets = secretsIn(text);
    for (const { kind } of secrets) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    return secrets.length === 0 ? text : withoutSecrets(text, secrets);
  }

  /** A value of JSON. The names of fields are texts too. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.text(name), this.value(field)]),
    );
  }

  record(record: SessionRecord): SessionRecord {
    const { session, messages, hidden_messages } = record;
    const { title, system, parameters } = session;
    const redacted = (message: Message) => ({ ...message, content: this.text(message.content) });
    return {
      session: {
        ...session,
        title: title === null ? null : this.text(title),
        ...(typeof system === 'string' && { system: this.text(system) }),
        ...(parameters !== undefined && { parameters: this.value(parameters) as typeof parameters }),
      },
      messages: messages.map(redacted),
      ...(hidden_messages !== undefined && { hidden_messages: hidden_messages.map(redacted) }),
    };
  }
}
