// The server with which `parley serve` is compared: node:http and better-sqlite3 alone, without durability, on a store of the same schema.
// POST only writes a session. GET looks up the hash of the key and reads the columns of the session that Parley reads.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Database from 'better-sqlite3';

const database = new Database(process.argv[2]);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = OFF');
const project = database.prepare('SELECT id FROM projects').pluck().get();
const insert = database.prepare(
  'INSERT INTO sessions (session_id, project, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
);
const findKey = database.prepare(`
  SELECT api_keys.key_id, projects.id AS project FROM api_keys JOIN projects ON projects.id = api_keys.project
  WHERE api_keys.hash = ? AND api_keys.revoked_at IS NULL`);
const findSession = database.prepare(`
  SELECT session_id, title, created_at, updated_at, message_count, mode, system, parameters, parent_id, forked_at, pinned, archived, tags, user_id
  FROM sessions
  WHERE project = ? AND session_id = ? AND deleted_at IS NULL`);

const server = createServer((request, response) => {
  if (request.method === 'GET') return respond(response, read(request));
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part) => {
    text += part;
  });
  request.on('end', () => respond(response, write(JSON.parse(text))));
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));

function read({ headers, url }) {
  const key = headers.authorization?.slice('Bearer '.length) ?? '';
  const owner = findKey.get(createHash('sha256').update(key).digest());
  if (owner === undefined) return null;
  const session = findSession.get(owner.project, url.slice('/v1/sessions/'.length));
  if (session === undefined) return null;
  const { session_id, title, created_at, updated_at, message_count } = session;
  return { session_id, title, created_at: time(created_at), updated_at: time(updated_at), message_count };
}

function write({ title }) {
  const session_id = `ses_${randomBytes(13).toString('hex')}`;
  const now = Date.now();
  insert.run(session_id, project, title, now, now);
  return { session_id, title, created_at: time(now), message_count: 0 };
}

function respond(response, data) {
  const text = JSON.stringify({ success: data !== null, data });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(data === null ? 404 : 200, headers);
  response.end(text);
}

function time(milliseconds) {
  return new Date(milliseconds).toISOString();
}
