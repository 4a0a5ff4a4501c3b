// The streams of eight vendors, each in its own form.
import { afterEach, expect, it } from 'vitest';
import { sendStream } from '../../support/model-server.ts';
import { UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents, textOf } from '../engine-suite.ts';
import { vendorStreams } from './vendor-streams.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

it.each(vendorStreams)('$vendor is read as $page says', async (vendor) => {
  const server = await stubs.serve((response) => sendStream(response, vendor.stream));
  const engine = stubs.engine(server.url + vendor.base);
  const events = await collectEvents(engine, { history: [], message: 'Hello' });
  expect(server.requests.map(({ path }) => path)).toEqual([vendor.path]);
  expect(textOf(events)).toBe(vendor.text);
  const notes = events.map((event) => (event.type === 'reasoning' ? event.text : ''));
  expect(notes.join('')).toBe(vendor.reasoning);
  const [input_tokens, output_tokens] = vendor.usage ?? [];
  const usage = vendor.usage === null ? null : { input_tokens, output_tokens };
  expect(events.at(-1)).toEqual({ type: 'finish', reason: vendor.reason, usage });
});

it('there are streams of at least five vendors, each with the page that documents it', () => {
  expect(new Set(vendorStreams.map(({ vendor }) => vendor)).size).toBeGreaterThanOrEqual(5);
  for (const { page } of vendorStreams) expect(new URL(page).protocol).toBe('https:');
  expect(new Set(vendorStreams.map(({ page }) => page)).size).toBe(vendorStreams.length);
});
