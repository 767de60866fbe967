/** Files that a packed package must have and must not have. */
import path from 'node:path';

/** Stands in the README of every package. */
export const moduleLine = 'ESM only; Node ≥ 20.19; `require()` works from 20.19.';

/** Every file that `exports` and `bin` name. A pattern (`./x/*`) is not checked. */
export function namedFiles({ exports = {}, bin = {} }) {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  return [...targets, ...(typeof bin === 'string' ? [bin] : Object.values(bin))]
    .filter((file) => !file.includes('*'))
    .map((file) => file.replace(/^\.\//, ''));
}

/** A map that names a source which is not packed leads a debugger nowhere. */
function mapFaults(name, files, readText) {
  const present = new Set(files);
  return files
    .filter((file) => file.endsWith('.map'))
    .flatMap((file) =>
      JSON.parse(readText(file))
        .sources.map((source) => path.posix.join(path.posix.dirname(file), source))
        .filter((source) => !present.has(source))
        .map((source) => `${name}: ${file} names ${source}, which is missing`),
    );
}

/** Where a package says it comes from, if it says the same as the workspace. */
function originFaults({ name, repository, homepage, bugs }, { folder, workspace }) {
  const isSame =
    repository?.url === workspace.repository.url &&
    repository.directory === folder &&
    homepage === `${workspace.homepage.replace(/#.*/, '')}/tree/main/${folder}#readme` &&
    bugs?.url === workspace.bugs.url;
  return isSame ? [] : [`${name}: repository, homepage or bugs do not agree with the workspace's`];
}

function dependencyFaults({ name, dependencies = {} }, { workspace, released }) {
  const own = Object.entries(dependencies).filter(([other]) => other.startsWith('@podwire/'));
  return [
    ...own
      .filter(([other]) => !released.includes(other))
      .map(([other]) => `${name}: depends on ${other}, which is private`),
    ...own
      .filter(([, range]) => range !== workspace.version)
      .map(([other, range]) => `${name}: depends on ${other} ${range}, not ${workspace.version}`),
  ];
}

/**
 * Faults in words. `files` are the paths in the archive and `readText` reads one of them, `folder` is where the package
 * lies, `workspace` the manifest of all, `released` the names of all packages that are packed with it.
 */
export function findPackageFaults(manifest, { files, readText, folder, workspace, released }) {
  const { name, version } = manifest;
  const present = new Set(files);
  const required = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', ...namedFiles(manifest)];
  const entries = Object.values(manifest.exports ?? {});
  const strangers = files.filter((file) => /(^|\/)test\/|\.tsbuildinfo$|\.test\.|.\/LICENSE$/.test(file));
  const hasLine = !present.has('README.md') || readText('README.md').includes(moduleLine);
  return [
    ...required.filter((file) => !present.has(file)).map((file) => `${name}: ${file} is missing`),
    ...strangers.map((file) => `${name}: ${file} does not belong into the package`),
    ...(hasLine ? [] : [`${name}: README.md does not say: ${moduleLine}`]),
    ...(entries.every((entry) => entry.types) ? [] : [`${name}: an export has no types`]),
    ...(version === workspace.version ? [] : [`${name}: version ${version}, not ${workspace.version}`]),
    ...(manifest.license ? [] : [`${name}: no license in package.json`]),
    ...originFaults(manifest, { folder, workspace }),
    ...dependencyFaults(manifest, { workspace, released }),
    ...mapFaults(name, files, readText),
  ];
}
