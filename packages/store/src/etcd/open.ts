import type { Store } from '../contract.js';
import type { EtcdOptions, EtcdSpec } from './options.js';

/**
 * The store in etcd 3.4 or later. Opening makes no call: a cluster that is down makes calls fail, and they work again when it is
 * back. gRPC and the messages are loaded here and not before.
 * @throws PodwireError CONFIG_INVALID for an endpoint that is none; STORE_DENIED for a file that cannot be read
 */
export async function openEtcdStore(spec: EtcdSpec, options: EtcdOptions): Promise<Store> {
  const { createEtcdStore } = await import('./store.js');
  return createEtcdStore(spec, options);
}
