// Writes a ChatGPT export of a given size, in the format of the service but with one conversation per line: conversations of 4 to 20 messages,
// with the metadata of a message, and occasionally a tool, a hidden message or an edited one. The same number gives the same bytes.
import { closeSync, openSync, writeSync } from 'node:fs';

const words =
  'the tide is high on every shore while a moon that nobody sees pulls water over sand and stone because it must then let go again and so on forever without end as one would expect of such a thing here'.split(
    ' ',
  );

/** Writes conversations up to a number of them, or of bytes; short ones have two messages of a few words. Returns both counts. */
export function writeExport(path, { bytes = Infinity, conversations = Infinity, isShort = false, seed = 1 }) {
  const file = openSync(path, 'w');
  const random = randomOf(seed);
  let written = writeSync(file, '[');
  let count = 0;
  let waiting = '';
  while (written + waiting.length < bytes && count < conversations) {
    waiting += `${count === 0 ? '' : ',\n'}${JSON.stringify(conversation(count, random, isShort))}`;
    count += 1;
    if (waiting.length < 1 << 20) continue;
    written += writeSync(file, waiting);
    waiting = '';
  }
  written += writeSync(file, `${waiting}]`);
  closeSync(file);
  return { bytes: written, conversations: count };
}

function conversation(number, random, isShort) {
  const id = uuid(random);
  const start = 1_700_000_000 + number * 60;
  const mapping = {};
  const add = (parent, message) => {
    const own = uuid(random);
    mapping[own] = { id: own, message: message && { id: own, ...message }, parent, children: [] };
    mapping[parent]?.children.push(own);
    return own;
  };
  let last = add(null, null);
  last = add(last, message(random, 'system', start, '', { is_visually_hidden_from_conversation: true }));
  const turns = isShort ? 1 : 2 + Math.floor(random() * 9);
  const said = isShort ? saidShortly : saidAtLength;
  for (let turn = 0; turn < turns; turn += 1) {
    const time = start + turn * 30;
    if (random() < 0.03) add(add(last, said(random, 'user', time)), said(random, 'assistant', time + 1));
    last = add(last, said(random, 'user', time));
    if (random() < 0.1) last = add(last, said(random, 'tool', time + 2));
    last = add(last, said(random, 'assistant', time + 5));
  }
  return {
    title: `Conversation ${number} about ${words[number % words.length]}`,
    create_time: start,
    update_time: start + turns * 30,
    mapping,
    moderation_results: [],
    current_node: last,
    plugin_ids: null,
    conversation_id: id,
    conversation_template_id: null,
    gizmo_id: null,
    is_archived: false,
    safe_urls: [],
    default_model_slug: 'gpt-4o',
    voice: null,
    id,
  };
}

function saidAtLength(random, role, time) {
  const text = textOf(random, role === 'user' ? 10 + random() * 60 : 50 + random() * 500);
  return message(random, role, time, text, {});
}

function saidShortly(random, role, time) {
  return message(random, role, time, textOf(random, 3 + random() * 12), {});
}

function message(random, role, time, text, metadata) {
  return {
    author: { role, name: role === 'tool' ? 'web' : null, metadata: {} },
    create_time: time + 0.123456,
    update_time: null,
    content: { content_type: 'text', parts: [text] },
    status: 'finished_successfully',
    end_turn: role === 'assistant' ? true : null,
    weight: 1.0,
    metadata: {
      ...metadata,
      request_id: uuid(random),
      message_source: null,
      timestamp_: 'absolute',
      message_type: null,
      ...(role === 'assistant' && {
        model_slug: 'gpt-4o',
        default_model_slug: 'auto',
        parent_id: uuid(random),
        citations: [],
        content_references: [],
        finish_details: { type: 'stop', stop_tokens: [200002] },
        is_complete: true,
        serialization_metadata: { custom_symbol_offsets: [] },
      }),
      ...(role === 'user' && {
        selected_sources: [],
        selected_github_repos: [],
        serialization_metadata: { custom_symbol_offsets: [] },
      }),
    },
    recipient: 'all',
    channel: null,
  };
}

function textOf(random, length) {
  let text = '';
  for (let count = 0; count < length; count += 1) {
    text += words[Math.floor(random() * words.length)];
    text += count % 60 === 59 ? '.\n\n' : count % 17 === 16 ? ', "so" — ' : ' ';
  }
  return text.trimEnd();
}

function uuid(random) {
  const part = () =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  const digits = part() + part() + part() + part();
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
