// The server with which `parley serve` over PostgreSQL is compared: node:http and a pool of 32 connections. POST only writes a session.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const [url, schema, project] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 32 });
const text = `INSERT INTO ${schema}.sessions (project, session_id, title, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)`;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', async () => respond(response, await write(JSON.parse(body))));
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));

async function write({ title }) {
  const now = Date.now();
  const session_id = `ses_${now.toString(16).padStart(10, '0')}${randomBytes(8).toString('hex')}`;
  await pool.query({ name: 'insert', text, values: [project, session_id, title, now, now] });
  return { session_id, title, created_at: new Date(now).toISOString(), message_count: 0 };
}

function respond(response, data) {
  const answer = JSON.stringify({ success: true, data });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };
  response.writeHead(200, headers);
  response.end(answer);
}
