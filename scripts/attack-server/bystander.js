// Another client than the attacker, in a process of its own, which the attacker does not keep busy. It reads, writes and searches with one key,
// one request after the other. It gets `{ url, key }`, then 'begin' and 'end', and reports the longest wait of each kind and the 99th percentile, in ms.
import { Agent, request } from 'node:http';

let place;
let running = [];
let isOver = false;

process.on('message', async (message) => {
  if (message === 'begin') {
    isOver = false;
    const { session } = place;
    running = [
      waits('GET', '/v1/models'),
      waits('PATCH', `/v1/sessions/${session}`, '{"title":"x"}'),
      waits('GET', '/v1/sessions/search?q=word'),
    ];
    process.send('begun');
  } else if (message === 'end') {
    isOver = true;
    process.send(await Promise.all(running));
  } else {
    place = { ...message, agent: new Agent({ keepAlive: true }) };
    await ask('POST', '/v1/chat', '{"mode":"echo","message":"a word"}');
    place.session = JSON.parse(await ask('POST', '/v1/sessions', '{}')).data.session_id;
    process.send('ready');
  }
});
process.send('here');

async function waits(method, path, body) {
  const lasted = [];
  while (!isOver) {
    const start = performance.now();
    await ask(method, path, body);
    lasted.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  lasted.sort((one, other) => one - other);
  const of100 = lasted[Math.floor(lasted.length * 0.99)];
  return `${Math.round(lasted.at(-1))}, ${Math.round(of100)}`;
}

function ask(method, path, body) {
  const headers = {
    authorization: `Bearer ${place.key}`,
    ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(place.url + path, { method, headers, agent: place.agent }, (answer) => {
      let text = '';
      answer
        .on('data', (piece) => {
          text += piece;
        })
        .on('end', () => resolve(text));
    });
    outgoing.on('error', reject).end(body);
  });
}
