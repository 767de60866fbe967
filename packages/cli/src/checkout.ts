import fs from 'node:fs';
import path from 'node:path';

/** This package: the nearest directory above with a package.json, whether the sources run or what was built of them. */
const packageRoot = findPackageRoot(import.meta.dirname);

function findPackageRoot(directory: string): string {
  return fs.existsSync(path.join(directory, 'package.json'))
    ? directory
    : findPackageRoot(path.dirname(directory));
}

/** A file of the checkout that this program runs from: `bin/podwire-cni`, `examples/web.yaml`. */
export function checkoutFile(name: string): string {
  return path.resolve(packageRoot, '../..', name);
}

/** The version of this package. */
export function ownVersion(): string {
  const text = fs.readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
