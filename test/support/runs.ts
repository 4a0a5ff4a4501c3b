// The number of cases for a property: few in `npm test`, many in `npm run test:long`.
export function runs(few: number, many: number): number {
  return process.env['PARLEY_TEST_RUNS'] === 'many' ? many : few;
}
