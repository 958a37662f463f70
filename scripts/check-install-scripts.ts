import { NPM_VERSIONS } from './install-scripts/npm-versions.ts';
import { provesRecording, tryInstall } from './install-scripts/try-install.ts';

// `npm run check:install-scripts [-- <version of npm>...]` takes half a minute a version, so `npm test` leaves it out.
const chosen = process.argv.slice(2);
if (!(await provesRecording()))
  throw new Error('the recorder saw no script of a package that has one: nothing can be said');
for (const version of chosen.length > 0 ? chosen : NPM_VERSIONS) {
  const { ran, node } = await tryInstall(version);
  const wrong = [
    ...ran.map((script) => `ran ${script}`),
    ...(node === process.version ? [] : [`npm scripts get Node ${node}, not ${process.version}`]),
  ];
  console.log(
    `npm ${version}: ${wrong.length === 0 ? `no install script ran, npm scripts get Node ${node}` : wrong.join(', ')}`,
  );
  if (wrong.length > 0) process.exitCode = 1;
}
