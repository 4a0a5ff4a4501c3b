// Formats lines of the log as text for people instead of JSON: the time, the level, the request or the message, and the other fields.

type Fields = Readonly<Record<string, unknown>>;

/** `line`: one JSON object with its line end. The fields of a request come in a fixed order. */
export function textOfLogLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Fields;
  const { method, path, status, ms, request_id, code, ...others } = fields;
  const request = method === undefined ? [] : [method, fieldText(path), status, `${ms} ms`, request_id];
  const failure = causesOf((err as { readonly message?: unknown } | undefined)?.message, msg);
  const words = [
    time,
    String(level).padEnd(5),
    ...request,
    ...(msg === undefined ? [] : [msg]),
    ...(code === undefined ? [] : [code]),
    ...Object.entries(others).map(([name, value]) => `${name}=${fieldText(value)}`),
    ...(failure === undefined ? [] : [fieldText(failure)]),
  ];
  return `${words.join(' ')}\n`;
}

/** The messages of a failure and of its causes, without those that the line has already. pino joins them with `: `. */
function causesOf(failure: unknown, message: unknown): unknown {
  if (typeof failure !== 'string' || typeof message !== 'string') return failure;
  let causes = failure;
  while (causes.startsWith(`${message}: `)) causes = causes.slice(message.length + 2);
  return message.includes(causes) ? undefined : causes;
}

/** Text with white space is quoted, so that a line stays one line. */
function fieldText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
