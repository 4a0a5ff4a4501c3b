// Examples for the page of the API: a request for curl and its response, generated from the schemas. The server accepts these requests.
import type { Json, OpenApiBody, OpenApiOperation } from './openapi.ts';

const time = '2026-01-31T12:00:00.000Z';
const mode = 'eliza';
const message = 'What shall I see in Rome?';
const reply = 'Begin with the Forum.';

/** The example values of fields, by name. Other fields have the first value that their schema allows. */
const samples: Readonly<Record<string, unknown>> = {
  session_id: 'ses_01k8zq4v7m3c5x9t2w6h0r1d8e',
  session_ids: ['ses_01k8zq4v7m3c5x9t2w6h0r1d8e'],
  message_id: 'msg_01k8zq4v9b7n2f4y6j8s0a3k5p',
  project_id: 'prj_01k8zq3h2d4g6k8m0p2r4t6v8x',
  key_id: 'key_01k8zq3h5e7j9n1q3s5u7w9y1z',
  project_name: 'default',
  key_name: 'laptop',
  title: 'Trip to Rome',
  message,
  content: message,
  reply,
  mode,
  system: 'Answer in one sentence.',
  parameters: { temperature: 0.2 },
  snippet: 'What shall I see in ⟦Rome⟧?',
  q: 'Rome',
  message_count: 2,
  status: 'ok',
  changed: [],
  next_cursor: null,
  parent_id: null,
  forked_at: null,
  tags: ['travel'],
  add: ['travel'],
  user: 'ada',
  messages: [
    messageAt(0, { role: 'user', content: message, finish_reason: null }),
    messageAt(1, { role: 'assistant', content: reply, finish_reason: 'stop' }),
  ],
};
/** Optional fields that an example shows. */
const shownFields = ['title', 'add'];

export function curlExample(method: string, path: string, operation: OpenApiOperation): string {
  const address = path.replace('{id}', String(samples['session_id']));
  const query = operation.parameters
    .filter((parameter) => parameter['in'] === 'query' && parameter['required'] === true)
    .map(({ name }) => `${name}=${encodeURIComponent(String(samples[String(name)] ?? ''))}`);
  const body = bodySchema(operation.requestBody);
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$PARLEY_URL${address}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...(operation.security?.length === 0 ? [] : ['-H "Authorization: Bearer $PARLEY_API_KEY"']),
    ...(body === null
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(sampleOf(body, ''))}'`]),
  ];
  return parts.join(' \\\n  ');
}

/** The body of a successful response. */
export function responseExample({ responses }: OpenApiOperation): string {
  const schema = bodySchema(responses['200']);
  return schema === null ? '' : JSON.stringify(sampleOf(schema, ''), null, 2);
}

function bodySchema(body: OpenApiBody | undefined): Json | null {
  return body?.content['application/json']?.schema ?? null;
}

/** A message of a session to import. */
function messageAt(position: number, fields: object): object {
  return { message_id: `msg_${position}`, position, mode, usage: null, created_at: time, ...fields };
}

/** Optional fields are left out, except `shownFields`. */
function sampleOf(schema: Json, name: string): unknown {
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const sample = samples[name];
  // `message` is a text in a request, and an object in the response of an undo.
  if (sample !== undefined && (schema['type'] !== 'object' || typeof sample === 'object')) return sample;
  const choices = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  if (choices !== undefined) return sampleOf(choices[0] ?? {}, name);
  switch (schema['type']) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return [sampleOf((schema['items'] as Json | undefined) ?? {}, '')];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return schema['format'] === 'date-time' ? time : 'text';
  }
}

function objectOf(schema: Json): unknown {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const fields = Object.entries(properties).filter(
    ([field]) => required.includes(field) || shownFields.includes(field),
  );
  return Object.fromEntries(fields.map(([field, inner]) => [field, sampleOf(inner, field)]));
}
