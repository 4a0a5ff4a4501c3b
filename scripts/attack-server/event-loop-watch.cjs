// Loaded into a server before its own code: writes down each time, in ms, for which its event loop did not turn, where that is above 5.
const { appendFileSync } = require('node:fs');

const file = process.env.PARLEY_WATCH_FILE;
appendFileSync(file, '');
let turned = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - turned > 5) appendFileSync(file, `${Math.round(now - turned)}\n`);
  turned = performance.now();
}, 1).unref();
