// Redacts a session: a mark replaces each secret.
import { defaultLimits } from '../../service/limits.ts';
import type { Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { redactionMark, secretsIn, withoutSecrets } from './found-secrets.ts';

/** A shorter beginning of a secret reveals nothing. */
const minPartLength = 8;

/** Replaces the secrets of texts, and counts them by their kind. */
export class Redaction {
  readonly #counts = new Map<string, number>();
  readonly #values = new Map<string, string>();

  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The distinct secrets of the last record. */
  get values(): ReadonlySet<string> {
    return new Set(this.#values.keys());
  }

  /** `2 jwt, 1 card_number`. */
  get summary(): string {
    return [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  }

  text(text: string): string {
    const secrets = secretsIn(text);
    for (const { kind, start, end } of secrets) {
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
      this.#values.set(text.slice(start, end), kind);
    }
    return secrets.length === 0 ? text : withoutSecrets(text, secrets);
  }

  /** Redacts a JSON value, including the names of fields. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [this.text(name), this.value(field)]),
    );
  }

  record(record: SessionRecord): SessionRecord {
    this.#values.clear();
    const { session, messages, hidden_messages } = record;
    const { title, system, parameters } = session;
    // The messages come first, because a title may end in the middle of a secret of the first one.
    const redacted = (message: Message) => ({ ...message, content: this.text(message.content) });
    const texts = {
      messages: messages.map(redacted),
      ...(hidden_messages !== undefined && { hidden_messages: hidden_messages.map(redacted) }),
    };
    return {
      session: {
        ...session,
        title: title === null ? null : this.#title(title),
        ...(typeof system === 'string' && { system: this.text(system) }),
        ...(parameters !== undefined && { parameters: this.value(parameters) as typeof parameters }),
      },
      ...texts,
    };
  }

  /** An automatic title is the beginning of a message, which may end in the middle of a secret. */
  #title(title: string): string {
    for (const [value, kind] of this.#values) {
      for (let length = Math.min(value.length - 1, title.length); length >= minPartLength; length -= 1) {
        if (!title.endsWith(value.slice(0, length))) continue;
        return this.#cut(title.slice(0, -length) + redactionMark(kind));
      }
    }
    return this.#cut(this.text(title));
  }

  #cut(title: string): string {
    return [...title].slice(0, defaultLimits.titleCharacters).join('');
  }
}
