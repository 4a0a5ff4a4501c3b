// Loaded into a measured process: when it ends, writes the resources that it has used to the file that PARLEY_BENCH_RESOURCES names.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // maxRSS would also count the memory of the process that has started this one.
  const [, peakKibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const used = {
    seconds: process.uptime(),
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    megabytes: peakKibibytes / 1024,
  };
  writeFileSync(process.env.PARLEY_BENCH_RESOURCES, JSON.stringify(used));
});
