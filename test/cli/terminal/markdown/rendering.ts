// Renders a Markdown text for a terminal that is only a string, with given chunks, width and colour.
import type { Writable } from 'node:stream';
import { MarkdownWriter } from '../../../../src/cli/terminal/markdown/markdown-writer.ts';
import { createOutput, type Output } from '../../../../src/cli/terminal/output.ts';
import { stringStream } from '../string-stream.ts';

export interface Rendering {
  readonly columns?: number;
  readonly colour?: boolean;
}

export interface StringTerminal {
  readonly output: Output;
  readonly stream: Writable & { columns: number };
  text(): string;
}

export function stringTerminal({ columns = 80, colour = false }: Rendering = {}): StringTerminal {
  const { stream, text } = stringStream({ isTTY: true, columns });
  const output = createOutput(stream, {
    role: 'data',
    // Without colour the marks of Markdown stay, as in a pipe.
    env: colour ? { FORCE_COLOR: '1' } : { TERM: 'dumb' },
    noColor: !colour,
    signal: new AbortController().signal,
  });
  return { output, stream, text };
}

export function writerTo({ output }: StringTerminal, { signal } = new AbortController()): MarkdownWriter {
  return new MarkdownWriter(output, signal);
}

export async function rendered(pieces: readonly string[], rendering?: Rendering): Promise<string> {
  const terminal = stringTerminal(rendering);
  const writer = writerTo(terminal);
  for (const piece of pieces) await writer.write(piece);
  await writer.endLine();
  return terminal.text();
}

/** The text in chunks of these lengths, repeatedly. */
export function inPieces(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(text.slice(at, at + (lengths[pieces.length % lengths.length] ?? 1)));
  }
  return pieces;
}
