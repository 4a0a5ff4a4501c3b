// The texts that a redaction removes from sessions.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { redactionMark, withoutSecrets } from '../../secrets/found-secrets.ts';
import { planOfMessages, planOfSecrets, type SessionRedactionPlan } from '../../secrets/session-redaction.ts';
import { readSession } from '../../transcripts/session-reading.ts';

/** A shorter text may be part of any other text, so it is only searched for by its shape or as a whole line. */
const minSearchableLength = 8;

/** `messages` are ids or positions; undefined plans the redaction of secrets. Throws `USAGE` if a message is missing. */
export async function planOf(
  id: string,
  messages: readonly string[] | undefined,
  context: CliContext,
): Promise<SessionRedactionPlan> {
  const record = await readSession(id, context);
  if (messages === undefined) return planOfSecrets(record);
  const all = [...record.messages, ...(record.hidden_messages ?? [])];
  const isNamed = (name: string) => (message: (typeof all)[number]) =>
    message.message_id === name || String(message.position) === name;
  const missing = messages.find((name) => !all.some(isNamed(name)));
  if (missing !== undefined) {
    throw new ParleyError('USAGE', `Session ${id} has no message ${missing}.`, {
      hint: 'Nothing was replaced. sessions messages --all shows ids and positions.',
    });
  }
  return planOfMessages(record, (message) => messages.some((name) => isNamed(name)(message)));
}

export class RedactedTexts {
  readonly #values = new Set<string>();
  #areWhole = false;

  /** The texts that are long enough to search for in other texts. */
  get searchable(): readonly string[] {
    return [...this.#values].filter(({ length }) => length >= minSearchableLength);
  }

  get count(): number {
    return this.#values.size;
  }

  add({ values, summary }: SessionRedactionPlan): void {
    for (const value of values) this.#values.add(value);
    this.#areWhole ||= summary === '';
  }

  /** A line of the input history without these texts and without any secret. A line may be a part of a message that is removed whole. */
  without(line: string): string {
    if (this.#areWhole) {
      const isPart =
        line.trim().length >= minSearchableLength && [...this.#values].some((value) => value.includes(line));
      return isPart || this.#values.has(line) ? redactionMark('message') : line;
    }
    let redacted = withoutSecrets(line);
    for (const value of this.searchable) redacted = redacted.replaceAll(value, redactionMark('secret'));
    return redacted;
  }
}
