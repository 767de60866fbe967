/** What a packed package must have and must not have. */

/** Every file that `exports` and `bin` name. A pattern (`./x/*`) is not checked. */
function namedFiles({ exports = {}, bin = {} }) {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  return [...targets, ...(typeof bin === 'string' ? [bin] : Object.values(bin))]
    .filter((file) => !file.includes('*'))
    .map((file) => file.replace(/^\.\//, ''));
}

/**
 * Faults in words; `files` are the paths in the archive, `version` is the workspace's, `released` the names of all
 * packages that are packed with it.
 */
export function findPackageFaults(manifest, files, { version, released }) {
  const { name, dependencies = {} } = manifest;
  const present = new Set(files);
  const required = ['package.json', 'README.md', 'LICENSE', ...namedFiles(manifest)];
  const entries = Object.values(manifest.exports ?? {});
  const testFiles = files.filter((file) => /(^|\/)test\/|\.tsbuildinfo$|\.test\./.test(file));
  return [
    ...required.filter((file) => !present.has(file)).map((file) => `${name}: ${file} is missing`),
    ...testFiles.map((file) => `${name}: ${file} does not belong into the package`),
    ...(entries.every((entry) => entry.types) ? [] : [`${name}: an export has no types`]),
    ...(manifest.version === version ? [] : [`${name}: version ${manifest.version}, not ${version}`]),
    ...(manifest.license ? [] : [`${name}: no license in package.json`]),
    ...Object.keys(dependencies)
      .filter((other) => other.startsWith('@podwire/') && !released.includes(other))
      .map((other) => `${name}: depends on ${other}, which is private`),
    ...Object.entries(dependencies)
      .filter(([other, range]) => other.startsWith('@podwire/') && range !== version)
      .map(([other, range]) => `${name}: depends on ${other} ${range}, not ${version}`),
  ];
}
