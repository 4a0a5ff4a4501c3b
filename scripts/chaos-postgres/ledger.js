// Records what the servers have acknowledged, and compares it with the store at the end. All texts and titles are made distinct by a number, so
// that duplicates are detected.

/** SQL: true if a live server runs the turn of a session. */
export const isHeld = `
  EXISTS (SELECT 1 FROM parley.servers WHERE owner = turn_owner AND until > clock_timestamp())`;

export class Ledger {
  #sessions = new Map();
  #turns = new Map();
  #numbers = 0;

  /** A text that nobody else uses. */
  newText(what) {
    this.#numbers += 1;
    return `${what} ${this.#numbers}`;
  }

  session({ session_id }, title) {
    this.#sessions.set(session_id, { title, isDeleted: false });
  }

  deleted(sessionId) {
    this.#sessions.get(sessionId).isDeleted = true;
  }

  /** Records a whole reply to `message`. The same turn may be reported again, for a key that was sent again. */
  turn({ session_id, message_id, reply, finish_reason, message_count }, message) {
    this.#turns.set(message_id, { session_id, message, reply, finish_reason, message_count });
  }

  get turns() {
    return this.#turns.size;
  }

  get sessions() {
    return this.#sessions.size;
  }

  /** The faults by kind, each with a short description. */
  async check(engine) {
    const sessions = await engine.rows(
      `SELECT id, session_id, title, message_count, deleted_at, ${isHeld} AS is_held FROM parley.sessions`,
    );
    const messages = await engine.rows(
      `SELECT session, position, message_id, role, content, finish_reason FROM parley.messages ORDER BY session, position`,
    );
    const ofSession = grouped(messages);
    const faults = { lost: [], doubled: [], odd: [] };
    const stored = new Map();
    for (const session of sessions) {
      const line = ofSession.get(session.id) ?? [];
      stored.set(session.session_id, { ...session, line });
      const isInOrder = line.every(
        ({ position, role }, index) =>
          position === index && role === (index % 2 === 0 ? 'user' : 'assistant'),
      );
      if (!isInOrder || session.message_count !== line.length)
        faults.odd.push(`${session.session_id}: ${session.message_count} messages, ${line.length} stored`);
      if (session.is_held) faults.odd.push(`${session.session_id}: its turn is held by a server`);
    }
    for (const [sessionId, { title, isDeleted }] of this.#sessions) {
      const session = stored.get(sessionId);
      if (session?.title !== title || (isDeleted && session.deleted_at === null))
        faults.lost.push(`session ${sessionId}${isDeleted ? ', its deletion' : ''}`);
    }
    for (const [messageId, turn] of this.#turns) {
      const line = stored.get(turn.session_id)?.line ?? [];
      const at = line.findIndex(({ message_id }) => message_id === messageId);
      const [asked, reply] = [line[at - 1], line[at]];
      const stands = asked?.content === turn.message && reply?.content === turn.reply;
      if (!stands || reply.finish_reason !== turn.finish_reason || turn.message_count !== at + 1)
        faults.lost.push(`turn ${messageId} in ${turn.session_id}: ${turn.message}`);
    }
    const said = messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
    const titles = sessions.flatMap(({ title }) => title ?? []);
    const ids = messages.map(({ message_id }) => message_id);
    for (const all of [said, titles, ids]) faults.doubled.push(...repeated(all));
    return faults;
  }
}

function grouped(messages) {
  const groups = new Map();
  for (const message of messages) {
    if (!groups.has(message.session)) groups.set(message.session, []);
    groups.get(message.session).push(message);
  }
  return groups;
}

function repeated(texts) {
  const seen = new Set();
  return texts.filter((text) => seen.size === seen.add(text).size);
}
