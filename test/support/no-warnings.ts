// Runs before each test file: a warning of Node's in the process of the tests is a failure.
process.on('warning', (warning) => {
  throw warning;
});
