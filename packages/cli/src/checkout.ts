import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../../..');

/** A file of the checkout that this program runs from: `bin/podwire-cni`, `examples/web.yaml`. */
export function checkoutFile(name: string): string {
  return path.join(root, name);
}
