// Writes the resources that the process has used to the file that PARLEY_BENCH_RESOURCES names, when the process ends.
const { writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const seconds = process.uptime();
  const used = { seconds, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 };
  writeFileSync(process.env.PARLEY_BENCH_RESOURCES, JSON.stringify(used));
});
