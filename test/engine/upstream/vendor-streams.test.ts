// The streams of eight vendors, each in its own shape.
import { afterEach, expect, it } from 'vitest';
import { sendStream, upstreamEngine } from '../../support/model-server.ts';
import { serve } from '../../support/scripted-server.ts';
import { collectEvents, textOf } from '../engine-suite.ts';
import { vendorStreams } from './vendor-streams.ts';

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
});

it.each(vendorStreams)('$vendor is read as $page says', async (vendor) => {
  const server = await serve((_request, response) => sendStream(response, vendor.stream));
  const engine = upstreamEngine(server.url + vendor.base);
  closing.push(engine, server);
  const events = await collectEvents(engine, { history: [], message: 'Hello' });
  expect(server.requests.map(({ path }) => path)).toEqual([vendor.path]);
  expect(textOf(events)).toBe(vendor.text);
  const notes = events.map((event) => (event.type === 'reasoning' ? event.text : ''));
  expect(notes.join('')).toBe(vendor.reasoning);
  const [input_tokens, output_tokens] = vendor.usage ?? [];
  const usage = vendor.usage === null ? null : { input_tokens, output_tokens };
  expect(events.at(-1)).toEqual({ type: 'finish', reason: vendor.reason, usage });
});
