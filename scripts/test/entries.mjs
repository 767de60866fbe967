/** The entries of the packages (`exports` in each package.json), and the sources that they are built from. */
import fs from 'node:fs';
import path from 'node:path';

const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));

const toSource = (built) => built.replace('dist/src', 'src').replace(/js$/, 'ts');

/** Each entry as sources import it (`@podwire/x/testing`), with the absolute path of its source. */
export function listEntries(root) {
  return readManifest(root).workspaces.flatMap((folder) => {
    const { name, exports = {} } = readManifest(path.join(root, folder));
    return Object.entries(exports).map(([entry, target]) => ({
      specifier: `${name}${entry.slice(1)}`,
      source: path.join(root, folder, toSource(target.default)),
    }));
  });
}

/**
 * Options of a resolver that finds sources, for dependency-cruiser. A name that no package exports resolves to nothing,
 * which a rule forbids: in a checkout that is built it would resolve to the build, which no rule looks at.
 */
export function resolveToSources(root) {
  const entries = listEntries(root).map(({ specifier, source }) => [`${specifier}$`, source]);
  return { alias: Object.fromEntries([...entries, ['@podwire', path.join(root, 'no-such-entry')]]) };
}

/** dependency-cruiser asks for a configuration of webpack, and reads its `resolve` alone. */
export default () => ({ resolve: resolveToSources(process.cwd()) });
