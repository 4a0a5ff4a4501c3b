// A place with a fake model server on this machine, for commands that use modes.
import type { ServerResponse } from 'node:http';
import { replyOf, sendStream } from './model-server.ts';
import { PlaceInProcess } from './place-in-process.ts';
import { type Script, type ScriptedServer, sendJson, serve } from './scripted-server.ts';

const replies = (_request: unknown, response: ServerResponse) =>
  sendStream(response, replyOf('Hello', ' to you.'));

export const fails = (_request: unknown, response: ServerResponse) =>
  sendJson(response, { error: { message: 'No luck', code: 'server_error' } }, 500);

export class PlaceWithModel extends PlaceInProcess {
  /** The responses of the model, from the next request on. */
  script: Script = replies;
  readonly server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    super();
    this.server = server;
  }

  static async open(): Promise<PlaceWithModel> {
    const server = await serve((request, response, count) => place.script(request, response, count));
    const place = new PlaceWithModel(server);
    return place;
  }

  /** Adds a mode for that server. */
  add(name: string, ...flags: readonly string[]): Promise<string> {
    return this.output(['modes', 'add', name, '--base-url', this.server.url, '--model', 'm', ...flags]);
  }

  async close(): Promise<void> {
    await this.server.close();
    this.remove();
  }
}
