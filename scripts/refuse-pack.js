// Stops `npm pack` and `npm publish` in the repository, whose manifest names every package of the build as a dependency. npm also runs this
// before `npm run pack`, which packs another manifest.
if (!process.env.npm_command?.startsWith('run')) {
  process.stderr.write(
    'What is published is made by `npm run pack`. Publish that file: npm publish ./parley-cli-VERSION.tgz\n',
  );
  process.exitCode = 1;
}
