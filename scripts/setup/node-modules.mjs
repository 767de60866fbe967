import fs from 'node:fs';
import path from 'node:path';
import { runOrFail } from './run.mjs';

const readLock = (file) => JSON.parse(fs.readFileSync(file, 'utf8')).packages;

/** True when `node_modules` holds what package-lock.json says; npm writes what it did into a lock file of its own. */
function isCurrent(root) {
  const record = path.join(root, 'node_modules/.package-lock.json');
  if (!fs.existsSync(record)) return false;
  const installed = readLock(record);
  const entries = Object.entries(readLock(path.join(root, 'package-lock.json')));
  return entries.every(([place, wanted]) => {
    if (place === '') return true;
    const found = installed[place];
    // Packages for other processors and systems are not installed.
    if (found === undefined) return wanted.optional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

/** Installs the npm packages of the lock file where they are missing or others. No script of any package is run. */
export async function installNodeModules(root, begin) {
  if (isCurrent(root)) return 'up to date';
  begin('npm ci');
  const parameters = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
  await runOrFail('npm', parameters, { cwd: root, show: true });
  return 'installed';
}
