// Runs before each test file: a warning of Node in the test process is a failure. Files may share a process, so it listens once.
if (!process.listeners('warning').some(({ name }) => name === 'failOnWarning'))
  process.on('warning', function failOnWarning(warning) {
    throw warning;
  });
