// The options of a remote backend: certificates, proxies, pointers, waits, and the trace of its requests.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callWith, failureOf, say } from '../support/calls.ts';
import { temporaryDirectory } from '../support/embedded.ts';
import { openRemote } from '../support/remote.ts';
import { sendJson, serve } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

async function file(text: string): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const path = join(directory.path, 'authority.pem');
  await writeFile(path, text);
  return path;
}

const reply = { success: true, data: { session_id: 's', reply: 'Hi.' } };

describe('a server’s certificate', () => {
  async function meet(authorityFile: string | null) {
    const server = await serve((_request, response) => sendJson(response, reply), testCertificate);
    const { backend } = await openRemote(server.url, { authorityFile });
    onTestFinished(async () => {
      await backend.close();
      await server.close();
    });
    return { backend, server };
  }

  it('of an unknown authority is refused, with a hint how to trust it', async () => {
    const { backend, server } = await meet(null);
    const failure = await failureOf(backend.service.verify(callWith('k')));
    expect(failure.code).toBe('NETWORK');
    expect(failure.remedy).toEqual({ kind: 'trust_certificate' });
    expect(server.requests).toEqual([]);
  });

  it('that a file names is trusted', async () => {
    const { backend } = await meet(await file(testCertificate.cert));
    expect((await backend.service.verify(callWith('k'))).body).toEqual(reply);
  });

  it.each([
    ['is not there', async () => '/nonexistent/ca.pem', ' cannot be read (ENOENT).'],
    ['holds none', () => file('hello'), ' contains no certificate.'],
  ])('in a file that %s is refused by the name of the file', async (_, make, words) => {
    const authorityFile = await make();
    const failure = await failureOf(openRemote('https://api.example', { authorityFile }));
    expect(failure.code).toBe('CONFIG');
    expect(failure.message).toBe(`The file of certificates ${authorityFile}${words}`);
  });
});

describe('unusable options', () => {
  it('are refused before a request: a proxy that is not a URL', async () => {
    const failure = await failureOf(openRemote('https://api.example', { env: { HTTPS_PROXY: 'http://[' } }));
    expect([failure.code, failure.message]).toEqual(['CONFIG', expect.stringContaining('HTTPS_PROXY')]);
  });

  it('are refused before a request: an invalid reply_pointer', async () => {
    const failure = await failureOf(openRemote('https://api.example', { replyPointer: 'data.reply' }));
    expect([failure.code, failure.message]).toEqual(['CONFIG', expect.stringContaining('reply_pointer')]);
  });
});

describe('a server that asks to retry later', () => {
  it('is retried after the time that it asks for', async () => {
    const server = await serve((_request, response, count) => {
      if (count === 1) response.writeHead(429, { 'retry-after': '2' }).end('slow down');
      else if (count === 2) sendJson(response, { success: false, error: { code: 'X', message: 'x' } }, 503);
      else sendJson(response, reply);
    });
    const { backend, waits } = await openRemote(server.url);
    expect((await say(backend.service, callWith('k'), 'x')).reply).toBe('Hi.');
    expect(waits).toEqual([2250, 500]);
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    await backend.close();
    await server.close();
  });

  it('for a long time is reported, with that time', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('retry-after', '3600');
      sendJson(response, { success: false, error: { code: 'RATE_LIMITED', message: 'Quota.' } }, 429);
    });
    const { backend, waits } = await openRemote(server.url);
    const failure = await failureOf(backend.service.models(callWith('k')));
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', message: 'Quota.', retryAfter: 3600 });
    expect(failure.hint).toBe('The server asks you to wait 60 min.');
    expect(waits).toEqual([]);
    await backend.close();
    await server.close();
  });

  it('is not waited for when the signal aborts', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const server = await serve((_request, response) => {
      response.writeHead(503).end();
      stop.abort(reason);
    });
    const { backend } = await openRemote(server.url);
    const work = backend.service.models(callWith('k', { signal: stop.signal }));
    await expect(work).rejects.toBe(reason);
    await backend.close();
    await server.close();
  });
});

describe('the trace', () => {
  it('is a command that repeats the request, without the key', async () => {
    const server = await serve((_request, response) => sendJson(response, reply));
    const lines: string[] = [];
    const { backend } = await openRemote(`${server.url}/pre fix`, {
      trace: async (line) => {
        lines.push(line);
      },
    });
    const key = 'pk_secret';
    const message = `it's "odd" $HOME \`id\` \\ \n é😀\u202e ${key}`;
    await say(backend.service, callWith(key), message);
    await backend.close();
    expect(lines).toHaveLength(2);
    const [command = '', timing] = lines;
    expect(timing).toMatch(/^# status 200 after \d+ ms$/);
    expect(command).not.toContain(key);
    expect(command).toMatch(/^[\x20-\x7e]+$/);
    // The shell prints the arguments that curl would get.
    const echo = command.replace(/^curl /, "printf '%s\\0' ");
    const env = { PARLEY_API_KEY: key };
    const words = execFileSync('sh', ['-c', echo], { env, encoding: 'utf8' }).split('\0');
    const first = server.requests[0];
    expect(words).toContain(`${server.url}/pre%20fix/v1/chat`);
    expect(words).toContain(`Authorization: Bearer ${key}`);
    expect(words).toContain(`Idempotency-Key: ${first?.headers['idempotency-key']}`);
    const body = words[words.indexOf('--data-binary') + 1] ?? '';
    expect(JSON.parse(body)).toEqual({ mode: 'echo', message: message.replace(key, '$PARLEY_API_KEY') });
    await server.close();
  });

  it('includes failures', async () => {
    const server = await serve(() => {});
    await server.close();
    const lines: string[] = [];
    const { backend } = await openRemote(server.url, {
      trace: async (line) => {
        lines.push(line);
      },
    });
    await failureOf(backend.service.verify(callWith('k')));
    expect(lines.filter((line) => line.startsWith('curl '))).toHaveLength(3);
    expect(lines.filter((line) => line.includes('nothing is listening'))).toHaveLength(3);
    await backend.close();
  });
});
