// Measures work by the processor time of this process, which a busy machine lengthens little.

/** The processor time of this process so far, in ms. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}
