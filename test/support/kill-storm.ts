// Kills chats (`kill -9`) at random moments, several at a time, some of them in shared sessions. Each reports to its parent what was acknowledged
// before it dies, and the store is then compared with these reports.
import { createInterface } from 'node:readline';
import { endOf, type Place } from './parley.ts';
import { type StoredMessage, storedMessages, storeFaults } from './stored-turns.ts';

export interface KillStorm {
  /** The fewest processes to kill, one of them at least in a turn, not counting those that end before they are killed. */
  readonly kills: number;
  readonly atOnce: number;
  readonly sharedSessions: number;
  /** The libraries for SQLite. Each chat uses one of them, and all use one store. */
  readonly drivers: readonly string[];
  /** 0 to 1. */
  readonly random: () => number;
}

export interface KillReport {
  readonly processes: number;
  readonly kills: number;
  readonly acknowledgedMessages: number;
  readonly acknowledgedReplies: number;
  /** Kills between the acknowledgements of a message and of its reply. */
  readonly cutTurns: number;
  readonly faults: readonly string[];
}

/** The facts that the parent of a chat knows about it. */
interface Witness {
  readonly content: string;
  readonly killed: boolean;
  readonly failure: string | null;
  /** From the line `session`. */
  readonly message: { readonly session_id: string; readonly message_id: string } | null;
  /** ms, as `performance.now`. */
  readonly acknowledgedAt: number | null;
  /** From the line `done`. */
  readonly reply: { readonly message_id: string; readonly reply: string } | null;
}

/** The time from which the time of a kill counts, and the duration of a chat from then on, in ms. */
type Lives = Readonly<Record<'start' | 'acknowledgement', number>>;

interface Kill {
  readonly from: keyof Lives;
  /** ms */
  readonly after: number;
}

export async function killStorm(place: Place, storm: KillStorm): Promise<KillReport> {
  const shared: string[] = [];
  while (shared.length < storm.sharedSessions) shared.push(await place.newSession());
  const lives = await defaultLives(place, storm.atOnce);
  const witnesses: Witness[] = [];
  let kills = 0;
  let started = 0;
  const worker = async () => {
    while (kills < storm.kills || !witnesses.some(isCut)) {
      const session = shared[Math.floor(storm.random() * shared.length * 2)] ?? null;
      const content = messageOf(started++, storm.random());
      // Every second one is killed in its turn, which is a short part of its run.
      const from = storm.random() < 0.5 ? 'start' : 'acknowledgement';
      const driver = storm.drivers[Math.floor(storm.random() * storm.drivers.length)];
      const kill = { from, after: storm.random() * lives[from] } as const;
      const witness = await chatAndKill(place, content, session, kill, driver);
      witnesses.push(witness);
      if (witness.killed) kills++;
    }
  };
  await Promise.all(Array.from({ length: storm.atOnce }, worker));
  const after = await Promise.all(shared.map((session) => chatAndKill(place, 'afterwards', session, null)));
  return {
    processes: witnesses.length,
    kills,
    acknowledgedMessages: witnesses.filter(({ message }) => message !== null).length,
    acknowledgedReplies: witnesses.filter(({ reply }) => reply !== null).length,
    cutTurns: witnesses.filter(isCut).length,
    faults: [
      ...storeFaults(place),
      ...acknowledgementFaults(witnesses, storedMessages(place)),
      ...after.flatMap(({ failure, reply }) => (reply === null ? [`afterwards: ${failure}`] : [])),
    ],
  };
}

function isCut({ message, reply }: Witness): boolean {
  return message !== null && reply === null;
}

/** A distinct text of up to 100 kB, so that a reply of many chunks takes some time. */
function messageOf(number: number, share: number): string {
  return `message ${number}: ${'word '.repeat(Math.floor(share ** 3 * 20_000))}end of ${number}`;
}

/** The duration of a chat on this machine under the same concurrency, in ms: in total, and from the acknowledgement of its message. */
async function defaultLives(place: Place, atOnce: number): Promise<Lives> {
  const times = Array.from({ length: atOnce }, async (_, index) => {
    const start = performance.now();
    const { acknowledgedAt } = await chatAndKill(place, messageOf(-1 - index, 0.7), null, null);
    const end = performance.now();
    return { start: end - start, acknowledgement: end - (acknowledgedAt ?? end) };
  });
  const all = await Promise.all(times);
  return {
    start: Math.max(...all.map(({ start }) => start)),
    acknowledgement: Math.max(...all.map(({ acknowledgement }) => acknowledgement)),
  };
}

/** Null does not kill it. */
async function chatAndKill(
  place: Place,
  content: string,
  session: string | null,
  kill: Kill | null,
  driver?: string,
): Promise<Witness> {
  const words = [
    'chat',
    '-n',
    '--mode',
    'echo',
    '--json-stream',
    '--debug',
    ...(session === null ? [] : ['-s', session]),
  ];
  const env = driver === undefined ? {} : { PARLEY_SQLITE_DRIVER: driver };
  const child = place.spawn([...words, content], { env });
  let timer: NodeJS.Timeout | null = null;
  const reached = (moment: Kill['from']) => {
    if (kill?.from === moment) timer = setTimeout(() => child.kill('SIGKILL'), kill.after);
  };
  reached('start');
  let acknowledgedAt: number | null = null;
  let message: Witness['message'] = null;
  let reply: Witness['reply'] = null;
  let talk = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    talk += text;
  });
  if (child.stdout === null) throw new Error('the output of a chat is not read');
  const ended = endOf(child);
  for await (const line of createInterface({ input: child.stdout })) {
    // A line that was cut by a kill is not an acknowledgement.
    const event = line.endsWith('}') ? JSON.parse(line) : {};
    if (event.event === 'session') {
      message = event.data;
      acknowledgedAt = performance.now();
      reached('acknowledgement');
    }
    if (event.event === 'done') reply = event.data;
  }
  const { status, signal } = await ended;
  if (timer !== null) clearTimeout(timer);
  const killed = signal === 'SIGKILL';
  return {
    content,
    killed,
    failure: killed || status === 0 ? null : `exit ${status}: ${talk}`,
    message,
    acknowledgedAt,
    reply,
  };
}

function acknowledgementFaults(
  witnesses: readonly Witness[],
  stored: readonly StoredMessage[],
): readonly string[] {
  const byId = new Map(stored.map((message) => [message.message_id, message]));
  const timesAsked = new Map<string, number>();
  for (const { role, content } of stored) {
    if (role === 'user') timesAsked.set(content, (timesAsked.get(content) ?? 0) + 1);
  }
  return witnesses.flatMap(({ content, message, reply, failure }) => {
    const name = content.slice(0, 14);
    const times = timesAsked.get(content) ?? 0;
    const storedMessage = message === null ? undefined : byId.get(message.message_id);
    const answer = reply === null ? undefined : byId.get(reply.message_id);
    return [
      ...(failure === null ? [] : [`${name}: failed by itself, ${failure}`]),
      ...(times > 1 ? [`${name}: stored ${times} times`] : []),
      ...(message !== null && storedMessage?.content !== content ? [`${name}: acknowledged and lost`] : []),
      ...(message !== null && storedMessage?.session_id !== message.session_id
        ? [`${name}: in another session`]
        : []),
      ...(reply !== null &&
      (answer?.content !== content || answer.position !== (storedMessage?.position ?? 0) + 1)
        ? [`${name}: reply acknowledged and lost`]
        : []),
    ];
  });
}
