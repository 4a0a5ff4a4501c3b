// The texts that a redaction takes out of sessions.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { redactionMark, withoutSecrets } from '../../secrets/found-secrets.ts';
import { planOfMessages, planOfSecrets, type SessionRedactionPlan } from '../../secrets/session-redaction.ts';
import { readSession } from '../../transcripts/session-reading.ts';

/** A shorter text may be a part of any other, so it is looked for by its shape or as a whole line alone. */
const shortest = 8;

/** `messages`: the ids or positions of the messages that are meant; null for secrets. Throws `USAGE` if one is not there. */
export async function planOf(
  id: string,
  messages: readonly string[] | null,
  context: CliContext,
): Promise<SessionRedactionPlan> {
  const record = await readSession(id, context);
  if (messages === null) return planOfSecrets(record);
  const all = [...record.messages, ...(record.hidden_messages ?? [])];
  const isNamed = (name: string) => (message: (typeof all)[number]) =>
    message.message_id === name || String(message.position) === name;
  const missing = messages.find((name) => !all.some(isNamed(name)));
  if (missing !== undefined) {
    throw new ParleyError('USAGE', `The session ${id} has no message ${missing}.`, {
      hint: 'Nothing was replaced. sessions messages --all shows ids and positions.',
    });
  }
  return planOfMessages(record, (message) => messages.some((name) => isNamed(name)(message)));
}

export class RedactedTexts {
  readonly #values = new Set<string>();
  #areWhole = false;

  /** Those that are long enough to be looked for in other texts. */
  get sought(): readonly string[] {
    return [...this.#values].filter(({ length }) => length >= shortest);
  }

  get count(): number {
    return this.#values.size;
  }

  add({ values, summary }: SessionRedactionPlan): void {
    for (const value of values) this.#values.add(value);
    this.#areWhole ||= summary === '';
  }

  /** A typed line without these texts and without any secret. A line may be a part of a message whose whole text goes. */
  without(line: string): string {
    if (this.#areWhole) {
      const isPart =
        line.trim().length >= shortest && [...this.#values].some((value) => value.includes(line));
      return isPart || this.#values.has(line) ? redactionMark('message') : line;
    }
    let without = withoutSecrets(line);
    for (const value of this.sought) without = without.replaceAll(value, redactionMark('secret'));
    return without;
  }
}
