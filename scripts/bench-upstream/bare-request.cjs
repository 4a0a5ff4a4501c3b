// The floor of a request to the model: node:http, the same request, the tokens to stdout, and nothing else.
'use strict';
const { request } = require('node:http');

const [url, model] = process.argv.slice(2);
const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
const sent = request(`${url}/chat/completions`, { method: 'POST', headers }, (answer) => {
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (piece) => {
    text += piece;
  });
  answer.on('end', () => {
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
    for (const event of events)
      process.stdout.write(JSON.parse(event.slice(6)).choices[0].delta.content ?? '\n');
    process.exit();
  });
});
sent.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] }));
