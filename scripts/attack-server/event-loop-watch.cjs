// Loaded into a server before its own code: writes down each time for which its event loop did not turn, where that is above 5 ms, without
// what other processes had of the processors meanwhile. On Linux /proc tells that: the second number is what the main thread waited, in ns.
const { appendFileSync, readFileSync } = require('node:fs');

const file = process.env.PARLEY_WATCH_FILE;
appendFileSync(file, '');
const waited = () => {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
};
let turned = performance.now();
let before = waited();
setInterval(() => {
  const [now, since] = [performance.now(), waited()];
  const lasted = now - turned - (since - before);
  if (lasted > 5) appendFileSync(file, `${Math.round(lasted)}\n`);
  [turned, before] = [performance.now(), since];
}, 1).unref();
