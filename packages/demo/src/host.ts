/** A machine for the demo: a network namespace with an uplink, and a world at the other end of it. */
import { hasIpv6 } from '@podwire/linux';
import type { OpenRecord } from './record.js';
import { createDemoNamespace, type OwnNamespace, runIp } from './namespaces.js';

/** Of the prefixes that are for documentation alone (RFC 5737, RFC 3849). */
export const addresses = {
  node: { 4: '192.0.2.10', 6: '2001:db8:2::10' },
  world: { 4: '192.0.2.1', 6: '2001:db8:2::1' },
} as const;

export interface DemoHost {
  readonly node: OwnNamespace;
  readonly world: OwnNamespace;
  readonly families: readonly (4 | 6)[];
  /** Everything that was made. */
  readonly namespaces: readonly OwnNamespace[];
}

/**
 * The world knows the wire between itself and the node, and nothing of pods: what it answers has gone through the
 * node's NAT.
 */
export async function createDemoHost(ip: string, record: OpenRecord, signal: AbortSignal): Promise<DemoHost> {
  const namespaces: OwnNamespace[] = [];
  const families = hasIpv6() ? ([4, 6] as const) : ([4] as const);
  const add = (suffix: string): OwnNamespace => {
    const name = `${record.current.name}${suffix}`;
    record.note({ namespace: name });
    const namespace = createDemoNamespace(name);
    namespaces.push(namespace);
    return namespace;
  };
  const host: DemoHost = {
    node: add(''),
    world: add('-world'),
    families,
    namespaces,
  };
  await runIp(
    ip,
    host.node,
    ['link set lo up', `link add eth0 type veth peer name eth0 netns ${host.world.name}`, 'link set eth0 up'],
    signal,
  );
  const assign = (side: keyof typeof addresses): string[] =>
    families.map(
      (family) => `addr add ${addresses[side][family]}${family === 4 ? '/24' : '/64 nodad'} dev eth0`,
    );
  await runIp(ip, host.world, ['link set lo up', 'link set eth0 up', ...assign('world')], signal);
  const routes = families.map((family) => `route add default via ${addresses.world[family]}`);
  await runIp(ip, host.node, [...assign('node'), ...routes], signal);
  return host;
}
