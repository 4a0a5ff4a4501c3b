// The phases: the failures of the database while the callers run. `seconds` is the duration of the phase or of the outage. `allowsRefusals`: the
// outage is longer than the patience of a server, so callers may be asked to retry.
import { setTimeout as delay } from 'node:timers/promises';

/** Repeats an action, with pauses. */
async function repeatedly(seconds, pauseMs, work) {
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    await work();
    await delay(pauseMs);
  }
}

async function silence(world, seconds) {
  for (const way of world.ways) way.fallSilent();
  await delay(seconds * 1000);
  for (const way of world.ways) way.speak();
  world.returned();
}

async function absence(world, seconds) {
  await world.engine.stop('immediate');
  await delay(seconds * 1000);
  world.returned(await world.engine.start());
}

/** The primary fails permanently, and the standby replaces it. */
async function promotion(world, leave) {
  const [primary, standby] = world.engines;
  await delay(1000);
  await leave(primary);
  await delay(1000);
  world.returned(await standby.promote());
}

export const phases = {
  quiet: { seconds: 4, run: (_world, seconds) => delay(seconds * 1000) },
  terminate: {
    seconds: 8,
    run: ({ engine }, seconds) => repeatedly(seconds, 100, () => engine.terminateBackends()),
  },
  'kill-backend': {
    seconds: 8,
    run: (world, seconds) =>
      repeatedly(seconds, 1500, async () => world.returned(await world.engine.killBackend())),
  },
  'kill-postmaster': {
    seconds: 3,
    async run(world, seconds) {
      world.engine.killPostmaster();
      await delay(seconds * 1000);
      world.returned(await world.engine.start());
    },
  },
  restart: {
    seconds: 8,
    run: (world, seconds) =>
      repeatedly(seconds, 2000, async () => {
        await world.engine.stop('fast');
        world.returned(await world.engine.start());
      }),
  },
  'gone-10': { seconds: 10, run: absence },
  'silent-4': { seconds: 4, run: silence },
  'silent-10': { seconds: 10, run: silence },
  promote: {
    seconds: 0,
    hasStandby: true,
    run: (world) => promotion(world, (primary) => primary.stop('immediate')),
    truth: (world) => world.engines[1],
  },
  'promote-silent': {
    seconds: 0,
    hasStandby: true,
    run: (world) =>
      promotion(world, (primary) => {
        for (const { ways } of world.servers) ways[0].fallSilent();
        return primary.stop('immediate');
      }),
    truth: (world) => world.engines[1],
  },
  'gone-25': { seconds: 25, allowsRefusals: true, run: absence },
  'silent-25': { seconds: 25, allowsRefusals: true, run: silence },
};
