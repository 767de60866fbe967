/** The source in parts for ESLint. One process with all of it needs more memory than Node takes by itself. */
import fs from 'node:fs';
import path from 'node:path';

/** About as many bytes as one process reads with its types in 2 GiB. */
const bytesOfPart = 2_000_000;

/**
 * The packages in parts of about one size, and what lies beside the packages as the last.
 * Each part is the argument list for one ESLint.
 */
export function splitForEslint(root) {
  const packages = fs.readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`);
  const parts = gatherParts(packages.map((name) => [name, countBytes(path.join(root, name))]));
  return [...parts, ['.', '--ignore-pattern', 'packages/']];
}

/** Takes `[name, bytes]` in their order; a name larger than a part is a part of its own. */
export function gatherParts(sized, limit = bytesOfPart) {
  const parts = [];
  let room = 0;
  for (const [name, bytes] of sized) {
    if (bytes > room) {
      parts.push([]);
      room = limit;
    }
    parts.at(-1).push(name);
    room -= bytes;
  }
  return parts;
}

function countBytes(directory) {
  return fs
    .readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules' && entry.name !== 'dist')
    .map((entry) => {
      const file = path.join(directory, entry.name);
      if (entry.isDirectory()) return countBytes(file);
      return file.endsWith('.ts') ? fs.statSync(file).size : 0;
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
