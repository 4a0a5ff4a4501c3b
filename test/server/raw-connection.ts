// A client that sends raw bytes, including those that no HTTP library would send, and reads the response as HTTP/1.1.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without its chunk marks. */
  readonly body: string;
}

/** Sends the pieces one by one and returns the first response; null if the connection ends without one. */
export async function rawAnswer(
  port: number,
  ...pieces: readonly (string | Uint8Array)[]
): Promise<RawAnswer | null> {
  const connection = await RawConnection.open(port);
  for (const piece of pieces) await connection.send(piece);
  const answer = await connection.answer();
  connection.destroy();
  return answer;
}

export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #ended = false;
  #wake: () => void = () => {};

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.#received += bytes.toString('latin1');
      this.#wake();
    });
    const end = () => {
      this.#ended = true;
      this.#wake();
    };
    socket.on('error', end).on('close', end);
  }

  /** The received text that `answer` has not taken. */
  get received(): string {
    return this.#received;
  }

  async send(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write(bytes, () => resolve()));
  }

  /** The next complete response. */
  async answer(): Promise<RawAnswer | null> {
    for (;;) {
      const parsed = parse(this.#received, this.#ended);
      if (parsed !== null) {
        this.#received = this.#received.slice(parsed.length);
        return parsed.answer;
      }
      if (this.#ended) return null;
      await this.#more();
    }
  }

  /** Resolves when a text has arrived. */
  async until(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (this.#ended) throw new Error(`The connection ended before ${text}: ${this.#received}`);
      await this.#more();
    }
  }

  async closed(): Promise<void> {
    while (!this.#ended) await this.#more();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function parse(text: string, ended: boolean): { readonly answer: RawAnswer; readonly length: number } | null {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return null;
  const [line = '', ...fields] = text.slice(0, head).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const status = Number(line.split(' ')[1]);
  const rest = text.slice(head + 4);
  if (status === 100) return parse(rest, ended);
  const whole = (body: string, length: number) => ({
    answer: { status, headers, body: Buffer.from(body, 'latin1').toString() },
    length: head + 4 + length,
  });
  if (headers['transfer-encoding'] === 'chunked') {
    const body = unchunked(rest);
    return body === null ? null : whole(body.text, body.length);
  }
  if (headers['content-length'] !== undefined) {
    const length = Number(headers['content-length']);
    return rest.length < length ? null : whole(rest.slice(0, length), length);
  }
  return ended || status === 204 || status === 304 ? whole(rest, rest.length) : null;
}

function unchunked(text: string): { readonly text: string; readonly length: number } | null {
  let body = '';
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at);
    if (line === -1) return null;
    const size = Number.parseInt(text.slice(at, line), 16);
    if (text.length < line + 2 + size + 2) return null;
    if (size === 0) return { text: body, length: line + 4 };
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}
