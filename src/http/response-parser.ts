// Parses HTTP/1.1 responses (RFC 9112) from the bytes of a connection. It supports what a server on this machine may send, and refuses
// ambiguous bytes.

/** The bytes are not an HTTP response. */
export class ResponseSyntaxError extends Error {
  override readonly name = 'ResponseSyntaxError';
}

export interface ResponseEvents {
  /** Called for each head. Heads with a status below 200 precede the final one. */
  head(status: number, headers: Record<string, string>): void;
  data(chunk: Buffer): void;
}

/**
 * The most bytes of a head, and of each chunk's size line and of the trailer. Node's client has the same limit.
 */
const maxLineBytes = 16 * 1024;
const lineFeed = 10;

export class ResponseParser {
  readonly #events: ResponseEvents;
  #part: 'status' | 'fields' | 'size' | 'data' | 'data end' | 'trailer' | 'rest' | 'complete' = 'status';
  #line = '';
  #lineBytes = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #remaining = 0;
  #isPersistent = false;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  get isComplete(): boolean {
    return this.#part === 'complete';
  }

  /** True for a complete response whose connection may serve another request. */
  get isPersistent(): boolean {
    return this.#isPersistent;
  }

  /** Parses the bytes, and returns how many of them belong to this response. Throws a `ResponseSyntaxError`. */
  take(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#part !== 'complete') {
      at =
        this.#part === 'data' || this.#part === 'rest'
          ? this.#takeData(bytes, at)
          : this.#takeText(bytes, at);
    }
    return at;
  }

  /** Ends the response because the connection has ended. This completes a response without a length, and cuts any other. */
  finish(): void {
    if (this.#part === 'rest') this.#part = 'complete';
  }

  #takeData(bytes: Buffer, at: number): number {
    const end = this.#part === 'rest' ? bytes.length : Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    // The state changes before the event, because the receiver of the last bytes may check whether the response is complete.
    if (this.#part === 'data' && this.#remaining === 0)
      this.#part = this.#isChunked ? 'data end' : 'complete';
    this.#events.data(bytes.subarray(at, end));
    return end;
  }

  get #isChunked(): boolean {
    return this.#headers['transfer-encoding'] !== undefined;
  }

  #takeText(bytes: Buffer, at: number): number {
    const feed = bytes.indexOf(lineFeed, at);
    const end = feed === -1 ? bytes.length : feed;
    this.#lineBytes += end - at;
    if (this.#lineBytes > maxLineBytes) throw new ResponseSyntaxError('its head is too long');
    this.#line += bytes.toString('latin1', at, end);
    // A server of another protocol may send first and never end its line.
    if (this.#part === 'status' && !'HTTP/1.'.startsWith(this.#line.slice(0, 7))) {
      throw new ResponseSyntaxError('it does not begin as an HTTP response');
    }
    if (feed === -1) return end;
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    this.#takeLine(line);
    return feed + 1;
  }

  #takeLine(line: string): void {
    switch (this.#part) {
      case 'status': {
        const [, minor, status] = matchLine(/^HTTP\/1\.([01]) ([1-9]\d\d)( .*)?$/, line);
        this.#status = Number(status);
        this.#isPersistent = minor === '1';
        this.#headers = Object.create(null);
        this.#part = 'fields';
        return;
      }
      case 'fields':
        if (line === '') this.#endHead();
        else this.#takeField(line);
        return;
      case 'size': {
        const [, digits = ''] = matchLine(/^([\da-f]{1,12})[ \t]*(;.*)?$/i, line);
        this.#remaining = Number.parseInt(digits, 16);
        this.#lineBytes = 0;
        this.#part = this.#remaining === 0 ? 'trailer' : 'data';
        return;
      }
      case 'data end':
        matchLine(/^$/, line);
        this.#part = 'size';
        return;
      default:
        if (line === '') this.#part = 'complete';
    }
  }

  #takeField(line: string): void {
    const [, name = '', field = ''] = matchLine(/^([\w!#$%&'*+.^`|~-]+):([^\r\0]*)$/, line);
    const value = field.trim();
    const key = name.toLowerCase();
    const before = this.#headers[key];
    this.#headers[key] = before === undefined ? value : `${before}, ${value}`;
  }

  /** Determines where the body ends (RFC 9112, section 6.3). */
  #endHead(): void {
    const { 'transfer-encoding': coding, 'content-length': length, connection = '' } = this.#headers;
    const status = this.#status;
    this.#lineBytes = 0;
    if (coding !== undefined && length !== undefined) throw new ResponseSyntaxError('it has two lengths');
    if (coding !== undefined && !/^chunked$/i.test(coding))
      throw new ResponseSyntaxError(`it has the transfer coding ${coding}`);
    if (length !== undefined) matchLine(/^\d{1,15}$/, length);
    // A connection is reused only if the server says that it keeps it. HTTP/1.1 allows more (RFC 9112, section 9.3), but some servers close
    // connections without notice, and then it is unknown whether a request was carried out.
    const isKept = 'keep-alive' in this.#headers || /\bkeep-alive\b/i.test(connection);
    if (!isKept || /\bclose\b/i.test(connection)) this.#isPersistent = false;
    this.#remaining = Number(length ?? 0);
    if (status < 200) this.#part = 'status';
    else if (
      status === 204 ||
      status === 304 ||
      (coding === undefined && length !== undefined && this.#remaining === 0)
    )
      this.#part = 'complete';
    else if (coding !== undefined) this.#part = 'size';
    else if (length !== undefined) this.#part = 'data';
    else {
      this.#part = 'rest';
      this.#isPersistent = false;
    }
    this.#events.head(status, this.#headers);
  }
}

function matchLine(form: RegExp, line: string): RegExpExecArray {
  const match = form.exec(line);
  if (match === null) throw new ResponseSyntaxError('it contains an invalid line');
  return match;
}
