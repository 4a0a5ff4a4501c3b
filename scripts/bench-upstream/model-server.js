// A model server that never waits: it streams as many tokens as the name of the model says (`20`), each as an event of its own. Those of
// `20-apart` are written one by one, as by a model that generates them one by one.
import { once } from 'node:events';
import { createServer } from 'node:http';

const piece = 64 * 1024;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text) => {
    body += text;
  });
  request.on('end', async () => {
    // Before a long conversation Parley asks for the context size, which this server does not report.
    if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end();
    const [, count, apart] = /^(\d+)(-apart)?$/.exec(JSON.parse(body).model);
    response.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = once(response, 'close');
    let waiting = '';
    for (let index = 0; index < Number(count) && !response.destroyed; index += 1) {
      waiting += event({ content: ' token' });
      if (apart === undefined && waiting.length < piece) continue;
      if (!response.write(waiting)) await Promise.race([once(response, 'drain'), closed]);
      else if (apart !== undefined) await new Promise((resolve) => setImmediate(resolve));
      waiting = '';
    }
    response.end(`${waiting}${event({}, 'stop')}data: [DONE]\n\n`);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));

function event(delta, finish_reason = null) {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'model' };
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}
