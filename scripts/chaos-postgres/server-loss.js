// Kills or stops a server while it streams replies, whose sessions continue on the other server; then the reverse. Measures how long a session
// waits: after a kill from the kill, after SIGTERM from the moment when its reply is cut.
import { setTimeout as delay } from 'node:timers/promises';
import { send } from './requests.js';

const streams = 16;
const callers = 16;

/** `maxMs`: the longest wait of a session. */
export async function runServerLoss(world, signal, maxMs) {
  const waits = [];
  const problems = [];
  world.callers.mayLoseServers = true;
  world.callers.start(callers);
  for (const [victim, survivor] of [world.servers, world.servers.toReversed()]) {
    const replies = Array.from({ length: streams }, () => openStream(world, victim));
    // Parts of the replies are stored by then.
    await Promise.all(replies.map(({ begun }) => begun));
    await delay(2500);
    const goneAt = performance.now();
    const ending = victim.end(signal);
    await Promise.all(
      replies.map(async (reply) => {
        const next = goOn(world, survivor, reply);
        const cutAt = await reply.cut;
        const { answeredAt, problem } = await next;
        if (problem !== null) problems.push(problem);
        waits.push(answeredAt - (signal === 'SIGKILL' ? goneAt : cutAt));
      }),
    );
    await ending;
    problems.push(...(await keptFaults(world, replies, signal)));
    await victim.start();
    await delay(500);
  }
  await world.callers.stop();
  const result = await world.result({ allowsRefusals: true });
  const longest = Math.max(...waits);
  if (longest > maxMs) problems.push(`a session waited for ${Math.round(longest)} ms, not ${maxMs} at most`);
  return { ...result, returnMs: longest, problems: [...result.problems, ...problems] };
}

/** A reply that would take two minutes. */
function openStream({ ledger }, server) {
  const message = ledger.newText('stream');
  const stream = { message, session: null, text: '' };
  let began;
  stream.begun = new Promise((resolve) => {
    began = resolve;
  });
  const see = (come) => {
    stream.session = /"session_id":"(\w+)"/.exec(come)?.[1] ?? null;
    stream.text = [...come.matchAll(/^event: delta\ndata: (.*)$/gm)]
      .map(([, data]) => JSON.parse(data).data.text)
      .join('');
    if (stream.text !== '') began();
  };
  const request = { method: 'POST', path: '/v1/chat', body: { mode: 'endless', message }, streams: true };
  // The stream ends with an error, or with its connection.
  const ended = send(server, request, see).catch(() => {});
  stream.cut = ended.then(() => performance.now());
  return stream;
}

async function goOn({ ledger }, server, { session }) {
  const message = ledger.newText('next');
  const body = { mode: 'eliza', message, session_id: session };
  const { status, body: answer } = await send(server, { method: 'POST', path: '/v1/chat', body });
  const answeredAt = performance.now();
  if (status !== 200)
    return { answeredAt, problem: `${session} goes on with ${status} ${answer.error.code}` };
  ledger.turn(answer.data, message);
  return { answeredAt, problem: null };
}

/** A kill loses the text since the last heartbeat; a stop loses nothing. */
async function keptFaults({ engine }, replies, signal) {
  const kept = await engine.rows(
    `SELECT session_id, content, finish_reason FROM parley.messages AS message
     JOIN parley.sessions AS session ON session.id = message.session WHERE position = 1`,
  );
  return replies.flatMap(({ session, text }) => {
    const reply = kept.find(({ session_id }) => session_id === session);
    const holds = signal === 'SIGKILL' ? text.startsWith(reply?.content) : reply?.content.startsWith(text);
    const stands = reply?.finish_reason === 'interrupted' && reply.content !== '' && holds;
    return stands ? [] : [`${session}: of ${text.length} characters there stand ${reply?.content.length}`];
  });
}
