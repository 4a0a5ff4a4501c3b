// The formats of an export: the text of each session, between sessions, and at the end.
import type { SessionRecord } from '../../service/session-archive.ts';
import { toJson } from '../terminal/json.ts';
import { markdownHead, markdownMessage } from './markdown.ts';
import { messagesInOrder } from './message-order.ts';

export type ExportFormat = 'md' | 'json' | 'html' | 'openai-jsonl';

const formatOfExtension: ReadonlyMap<string, ExportFormat> = new Map([
  ['md', 'md'],
  ['markdown', 'md'],
  ['html', 'html'],
  ['htm', 'html'],
  ['json', 'json'],
  ['jsonl', 'json'],
  ['ndjson', 'json'],
]);

/** The format of a file's extension; null if it has no known one. */
export function formatOfFile(path: string): ExportFormat | null {
  if (path.toLowerCase().endsWith(`.${extensionOf('openai-jsonl')}`)) return 'openai-jsonl';
  const [, extension = ''] = /\.(\w+)$/.exec(path) ?? [];
  return formatOfExtension.get(extension.toLowerCase()) ?? null;
}

export interface ExportWriter {
  /** The text of the next session. The first one includes the text at the top. */
  session(record: SessionRecord): string;
  end(): string;
}

/** The file extension of a format. */
export function extensionOf(format: ExportFormat): string {
  return format === 'openai-jsonl' ? 'openai.jsonl' : format;
}

/** `several` is true if more than one session may come. */
export async function exportWriter(format: ExportFormat, several: boolean): Promise<ExportWriter> {
  switch (format) {
    case 'json':
      return { session: (record) => `${toJson(record)}\n`, end: () => '' };
    case 'openai-jsonl':
      return { session: openaiLine, end: () => '' };
    case 'md':
      return markdownWriter();
    case 'html':
      return htmlWriter(several);
  }
}

function markdownWriter(): ExportWriter {
  let isFirst = true;
  return {
    session(record) {
      const gap = isFirst ? '' : '\n---\n\n';
      isFirst = false;
      return gap + [markdownHead(record.session), ...messagesInOrder(record).map(markdownMessage)].join('\n');
    },
    end: () => '',
  };
}

async function htmlWriter(several: boolean): Promise<ExportWriter> {
  const { HtmlPage } = await import('./html.ts');
  const page = new HtmlPage();
  let isFirst = true;
  return {
    session(record) {
      const { title, session_id } = record.session;
      const head = isFirst ? page.begin(several ? 'Sessions' : (title ?? session_id), several) : '';
      isFirst = false;
      return head + page.session(record);
    },
    end: () => page.end(),
  };
}

/** A line of the format for training and testing models. It has only visible messages, because the format has no alternatives. */
function openaiLine({ session, messages }: SessionRecord): string {
  const { session_id, title, created_at, system } = session;
  const turns = messages.map(({ role, content }) => ({ role, content }));
  const systemMessage = system == null ? [] : [{ role: 'system', content: system }];
  return `${toJson({ messages: [...systemMessage, ...turns], metadata: { session_id, title, created_at } })}\n`;
}
