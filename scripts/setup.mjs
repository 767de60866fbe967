#!/usr/bin/env node
/**
 * Makes a checkout ready: npm and Debian packages, the build, the plugin. Does only what is not done yet.
 *
 *   node scripts/setup.mjs [--for run|demo|test|bench|kubernetes]
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildHold, buildPlugins, compileTypeScript } from './setup/build.mjs';
import { bundleAgent } from './setup/bundle.mjs';
import { installPackages, packagesFor } from './setup/debian.mjs';
import { installNodeModules } from './setup/node-modules.mjs';
import { SetupError, showStep } from './setup/show.mjs';

const root = path.resolve(fileURLToPath(import.meta.url), '../..');

function readPurpose() {
  const { values } = parseArgs({ options: { for: { type: 'string', default: 'run' } } });
  if (Object.hasOwn(packagesFor, values.for)) return values.for;
  throw new SetupError(`--for knows ${Object.keys(packagesFor).join(', ')}, not ${values.for}`);
}

function checkMachine(purpose) {
  if (process.platform !== 'linux') throw new SetupError('Podwire runs on Linux only');
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new SetupError(`Node 20.19 or newer is needed; this is ${process.versions.node}`);
  if (purpose !== 'run' && process.getuid() !== 0)
    throw new SetupError(`root is needed (network namespaces); run: sudo npm run ${purpose}`);
}

/** The documents write `podwire`; a checkout has it in bin. */
function showNext() {
  const program = path.join(root, 'bin/podwire');
  const isHere = path.relative(process.cwd(), root) === '';
  console.log(
    `Next: ${isHere ? 'bin/podwire' : program} up ${path.join(isHere ? '' : root, 'examples/web.yaml')}`,
  );
  console.log(`To call it podwire, as the documents do: ln -s ${program} /usr/local/bin/`);
}

try {
  const purpose = readPurpose();
  checkMachine(purpose);
  console.log(`Setting up Podwire (${purpose})`);
  await showStep('Debian packages', (begin) => installPackages(purpose, begin));
  await showStep('npm packages', (begin) => installNodeModules(root, begin));
  await showStep('TypeScript', (begin) => compileTypeScript(root, { withTests: purpose === 'test' }, begin));
  await showStep('agent', (begin) => bundleAgent(root, begin));
  await showStep('plugins', (begin) => buildPlugins(root, begin));
  await showStep('embedded runtime', () => buildHold(root));
  if (purpose === 'run') showNext();
} catch (error) {
  if (!(error instanceof SetupError) && error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error;
  console.error(`  ✗ ${error.message}`);
  process.exitCode = 1;
}
