// Runs before each test file: a warning of Node's in the process of the tests is a failure. Files may share a process: it listens once.
if (!process.listeners('warning').some(({ name }) => name === 'failOnWarning'))
  process.on('warning', function failOnWarning(warning) {
    throw warning;
  });
