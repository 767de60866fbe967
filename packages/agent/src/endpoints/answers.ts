import { convertResult, type CniVersion, type Dns, type DnsCapability, type Result } from '@podwire/cni';
import type { LeaseRecord, PlannedEndpoint } from '@podwire/network-contract';

export interface AnswerInput {
  readonly planned: PlannedEndpoint;
  readonly leases: readonly LeaseRecord[];
  readonly netns: string;
  readonly dns?: DnsCapability;
}

/** Where the pod side stands in the answer's `interfaces`. */
const podInterface = 1;

/**
 * The result of an ADD in the newest version (CNI specification 1.1.0, section 5, "ADD Success"): the host side, the
 * pod side, every lease on the pod side, the routes inside the pod, and the resolver settings that were asked for.
 */
export function buildAnswer({ planned, leases, netns, dns }: AnswerInput): Result {
  const { hostLink, podLink, mtu } = planned;
  return {
    cniVersion: '1.1.0',
    interfaces: [
      { name: hostLink.name, mac: hostLink.mac, mtu },
      { name: podLink.name, mac: podLink.mac, mtu, sandbox: netns },
    ],
    ips: leases.map(({ address }, index) => buildIp(address, planned.gateways[index])),
    routes: planned.routes,
    ...(dns === undefined ? {} : { dns: toResultDns(dns) }),
  };
}

function buildIp(address: string, gateway: string | undefined): NonNullable<Result['ips']>[number] {
  const cidr = `${address}/${address.includes(':') ? 128 : 32}`;
  return { interface: podInterface, address: cidr, ...(gateway === undefined ? {} : { gateway }) };
}

/** The capability and the result use different words for the same things (CNI conventions, `dns`). */
function toResultDns({ servers, searches, options }: DnsCapability): Dns {
  return {
    ...(servers === undefined ? {} : { nameservers: servers }),
    ...(searches === undefined ? {} : { search: searches }),
    ...(options === undefined ? {} : { options }),
  };
}

/** The text that goes to the runtime, in the version of its configuration. */
export function renderAnswer(answer: Result, version: CniVersion): string {
  return JSON.stringify(convertResult(answer, version));
}
