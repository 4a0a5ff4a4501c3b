// A model server on this machine that streams a word at a time: the model `30x20` sends 30 words, 20 ms apart.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export async function openModel() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += bytes;
    const { model, messages } = JSON.parse(body);
    const [words, apartMs] = model.split('x').map(Number);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = messages.at(-1).content;
    for (let word = 0; word < words && !response.destroyed; word += 1) {
      response.write(event({ content: word === 0 ? `To ${message}:` : ` ${word}` }));
      await delay(apartMs);
    }
    response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function event(delta, finish_reason = null) {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'model' };
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
