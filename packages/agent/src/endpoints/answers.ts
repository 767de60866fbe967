import { addressBits, familyOf } from '@podwire/addresses';
import { convertResult, type CniVersion, type Dns, type DnsCapability, type Result } from '@podwire/cni';
import type { LeaseRecord, PlannedEndpoint } from '@podwire/network-contract';
import { compact } from '@podwire/platform';

export interface AnswerInput {
  readonly planned: PlannedEndpoint;
  readonly leases: readonly LeaseRecord[];
  readonly netns: string;
  readonly dns?: DnsCapability;
}

/**
 * The result of an ADD in the newest version (CNI specification 1.1.0, section 5, "ADD Success"): the links, every lease on the
 * first link inside the pod, the routes there, and the resolver settings that were asked for.
 */
export function buildAnswer({ planned, leases, netns, dns }: AnswerInput): Result {
  const { links, mtu } = planned;
  const podInterface = links.findIndex(({ side }) => side === 'pod');
  return {
    cniVersion: '1.1.0',
    interfaces: links.map(({ side, name, mac }) => ({
      ...{ name, mac, mtu },
      ...(side === 'pod' ? { sandbox: netns } : {}),
    })),
    ips: leases.map(({ address }, index) => ({
      interface: podInterface,
      address: `${address}/${planned.lengths?.[index] ?? addressBits(familyOf(address))}`,
      ...compact({ gateway: planned.gateways[index] }),
    })),
    routes: planned.routes,
    ...(dns === undefined ? {} : { dns: toResultDns(dns) }),
  };
}

/** The capability and the result use different words for the same things (CNI conventions, `dns`). */
function toResultDns({ servers, searches, options }: DnsCapability): Dns {
  return compact({ nameservers: servers, search: searches, options });
}

/** The text that goes to the runtime, in the version of its configuration. */
export function renderAnswer(answer: Result, version: CniVersion): string {
  return JSON.stringify(convertResult(answer, version));
}
