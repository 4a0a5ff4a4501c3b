// A fake model server that streams Markdown: code, tables, lists and quotes, in turn. It records its requests and replies.
import { replyOf, sendStream } from '../../support/model-server.ts';
import { type ScriptedServer, sendJson, serve } from '../../support/scripted-server.ts';

export interface ModelTurn {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature?: number;
  readonly model: string;
  readonly reply: string;
}

const samples = [
  'Some `code`:\n\n```ts\nconst answer: number = 42;\n```\n\nThat is **all**.\n',
  '| name | size |\n|:-----|-----:|\n| bytes | 10 |\n| 你好 | 2000 |\n',
  '1. first\n   - inner *one*\n   - inner two\n2. second\n\n> A quote\n> of two lines\n',
  '## Heading\n\nA [link](https://example.org/a?b=c), ~~gone~~ and a rule:\n\n---\n\n- [x] done\n- [ ] open\n',
  'Plain words, long enough to be wrapped: '.padEnd(300, 'word '),
] as const;

/** Enough models for a list that is filtered by typing. */
const small = Array.from({ length: 30 }, (_, number) => `small-${number}`);

export class MarkdownModel {
  readonly turns: ModelTurn[] = [];
  readonly #server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    this.#server = server;
  }

  static async open(): Promise<MarkdownModel> {
    const server = await serve(({ path, body }, response) => {
      if (!path.endsWith('/chat/completions')) {
        const data = [...small, 'large'].map((id) => ({ id, object: 'model' }));
        sendJson(response, { object: 'list', data });
        return;
      }
      const { messages, model: name, temperature } = JSON.parse(body);
      const number = model.turns.length + 1;
      const reply = `Reply ${number}.\n\n${samples[number % samples.length]}\nEnd of ${number}.`;
      model.turns.push({ messages, model: name, reply, ...(temperature !== undefined && { temperature }) });
      sendStream(response, replyOf(...(reply.match(/[\s\S]{1,40}/gu) ?? [])));
    });
    const model = new MarkdownModel(server);
    return model;
  }

  get url(): string {
    return this.#server.url;
  }

  get last(): ModelTurn {
    const turn = this.turns.at(-1);
    if (turn === undefined) throw new Error('the model was not asked');
    return turn;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
