// The environment of a phase: a database of its own, with a standby if the phase needs one, two servers over it, and callers.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Callers } from './callers.js';
import { makeCertificates } from './certificate.js';
import { Engine } from './engine.js';
import { isHeld, Ledger } from './ledger.js';
import { openModel } from './model.js';
import { Server } from './servers.js';

const callerCount = 32;

export class World {
  #place = mkdtempSync(join(tmpdir(), 'parley-chaos-'));
  #model = null;
  ledger = new Ledger();
  engines = [];
  servers = [];
  callers = null;
  /** The times at which a failure was repaired. */
  returns = [];

  /** `tools`: the tools of the tests. `hasStandby`: two databases. `clocksMs`: how far the clocks of the servers are ahead. */
  static async open(tools, { hasStandby = false, clocksMs = [0, 0] } = {}) {
    const world = new World();
    try {
      await world.#open(tools, hasStandby, clocksMs);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async #open({ findPostgres, freePort, openSilentProxy }, hasStandby, clocksMs) {
    const place = this.#place;
    // If root runs this, the databases belong to another user, who needs access.
    chmodSync(place, 0o711);
    const certificates = makeCertificates(place);
    // The PATH may contain links to only some of its programs.
    const bin = dirname(realpathSync(join(findPostgres(), 'initdb')));
    for (const name of hasStandby ? ['primary', 'standby'] : ['primary'])
      this.engines.push(new Engine({ bin, directory: join(place, name), port: await freePort() }));
    const [primary, standby] = this.engines;
    await primary.create(certificates);
    await primary.start();
    await standby?.createAsStandbyOf(primary);
    this.#model = await openModel();
    const modes = join(place, 'modes.yaml');
    const mode = (model) => ({ base_url: this.#model.url, model });
    writeFileSync(modes, JSON.stringify({ modes: { slow: mode('20x50'), endless: mode('600x200') } }));
    for (const clockMs of clocksMs) {
      const directory = join(place, `server-${this.servers.length}`);
      mkdirSync(directory, { mode: 0o700 });
      const ways = await Promise.all(this.engines.map(({ port }) => openSilentProxy(port)));
      const { authority } = certificates;
      const server = new Server({
        place: { directory, modes },
        port: await freePort(),
        ways,
        authority,
        clockMs,
      });
      await server.start();
      this.servers.push(server);
    }
    const key = await this.servers[0].newKey();
    for (const server of this.servers) server.key = key;
    this.callers = new Callers(this.servers, this.ledger);
  }

  get engine() {
    return this.engines[0];
  }

  /** Runs the callers during `fault`, and for a while before and after. */
  async live(fault) {
    this.callers.start(callerCount);
    await delay(1000);
    await fault();
    await delay(1500);
    await this.callers.stop();
  }

  /** Records the time at which the failure was repaired. */
  returned(moment = performance.now()) {
    this.returns.push(moment);
  }

  get ways() {
    return this.servers.flatMap(({ ways }) => ways);
  }

  /** The line of the table, and the faults. `engine`: the database that is compared at the end. */
  async result({ allowsRefusals = false, engine = this.engine } = {}) {
    await this.#settled(engine);
    const { lost, doubled, odd } = await this.ledger.check(engine);
    const { requests, successes, refusals, lastRefusal, failures, longestMs } = this.callers;
    const silences = this.returns.map((moment) => this.callers.silenceAfter(moment));
    const returnMs = silences.length === 0 ? null : Math.max(...silences);
    const problems = [
      ...shortened('failed', failures),
      ...shortened('lost', lost),
      ...shortened('doubled', doubled),
      ...shortened('odd', odd),
      ...(refusals > 0 && !allowsRefusals ? [`refused: ${refusals}, the last: ${lastRefusal}`] : []),
      ...(allowsRefusals && returnMs > 1000 ? ['the first success came more than 1 s after the return'] : []),
      ...(successes.length === 0 ? ['nothing was answered'] : []),
    ];
    return {
      ...{ requests, answered: successes.length, refusals, failed: failures.length },
      ...{ lost: lost.length, doubled: doubled.length, longestMs, returnMs, problems },
    };
  }

  /** A turn whose reply could not be stored is released by its server some heartbeats later. */
  async #settled(engine) {
    for (const until = performance.now() + 15_000; performance.now() < until; await delay(100)) {
      const held = await engine.rows(`SELECT 1 FROM parley.sessions WHERE ${isHeld} LIMIT 1`);
      if (held.length === 0) return;
    }
  }

  async close() {
    await Promise.all(this.servers.map((server) => server.end('SIGKILL')));
    await Promise.all(this.ways.map((way) => way.close()));
    this.endEngines();
    this.#model?.close();
    rmSync(this.#place, { recursive: true, force: true });
  }

  /** Stops everything at once, even at an abrupt end. */
  endEngines() {
    for (const engine of this.engines) engine.end();
  }
}

/** The first few items. */
function shortened(kind, all) {
  const few = all.slice(0, 5).map((one) => `${kind}: ${one}`);
  return all.length > few.length ? [...few, `${kind}: ${all.length} in all`] : few;
}
