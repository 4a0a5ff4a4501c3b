// The libraries for SQLite in this process. The stores of the tests use the one that the program would choose.
import { chooseDriver } from '../../src/store/sqlite/driver-choice.ts';

export const driver = await chooseDriver(process.versions, process.env['PARLEY_SQLITE_DRIVER']);

/** For tests that record the statements, which only this library supports. */
export const betterSqlite3 = await chooseDriver(process.versions, 'better-sqlite3');

/** All libraries of this Node. */
export const allDrivers = [betterSqlite3, await chooseDriver(process.versions)].filter(
  ({ name }, at) => at === 0 || name !== 'better-sqlite3',
);

/** The libraries that a program of this run of the tests may use: all, or the one that the environment names. A single executable has that of Node alone. */
export const driversOfRun = process.env['PARLEY_TEST_PROGRAM']
  ? ['node:sqlite']
  : process.env['PARLEY_SQLITE_DRIVER']
    ? [driver.name]
    : allDrivers.map(({ name }) => name);
