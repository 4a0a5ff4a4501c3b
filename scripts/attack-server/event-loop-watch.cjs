// Loaded into a server before its own code: records each time for which its event loop was blocked, if it is above 5 ms, minus the processor time
// of other processes. On Linux /proc reports that: the second number is how long the main thread waited, in ns.
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
