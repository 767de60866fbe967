/**
 * Makes the folder of a package ready for `npm pack`, which runs this there.
 *
 * npm takes LICENSE and CHANGELOG only out of the package's own folder, and the repository has one of each for all. The
 * copies are ignored by git and stay, so that two who pack one package at the same moment do not meet a missing one.
 *
 * The compiler leaves what it made of a source that was deleted or renamed since. That must not be shipped. The manual
 * pages are made of the built commands.
 */
import fs from 'node:fs';
import path from 'node:path';
import { writeManPages } from '../docs/man.mjs';

const root = path.resolve(import.meta.dirname, '../..');

function copySharedFiles(folder) {
  for (const name of ['LICENSE', 'CHANGELOG.md']) {
    const target = path.join(folder, name);
    const draft = `${target}.${process.pid}`;
    fs.copyFileSync(path.join(root, name), draft);
    fs.renameSync(draft, target);
  }
}

function removeStaleOutput(folder) {
  const built = path.join(folder, 'dist/src');
  for (const file of fs.readdirSync(built, { recursive: true })) {
    const [, stem] = /^(.*)\.(js|d\.ts)(\.map)?$/.exec(file) ?? [];
    if (stem !== undefined && !fs.existsSync(path.join(folder, 'src', `${stem}.ts`)))
      fs.rmSync(path.join(built, file), { force: true });
  }
}

/** Of the package that has the commands: its `package.json` says where npm looks for the pages. */
async function writeManual(folder) {
  const { directories } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  if (directories?.man !== undefined) await writeManPages(path.join(folder, directories.man));
}

export async function preparePackage(folder) {
  copySharedFiles(folder);
  removeStaleOutput(folder);
  await writeManual(folder);
}

if (process.argv[1] === import.meta.filename) await preparePackage(process.cwd());
