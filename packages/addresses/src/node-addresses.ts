/** Which of a machine's addresses others can use. */

/** As `networkInterfaces()` of `node:os` gives them. */
export type Interfaces = Readonly<
  Record<
    string,
    readonly { readonly address: string; readonly family: string; readonly internal: boolean }[] | undefined
  >
>;

/**
 * Addresses by which others reach the node: of IPv4 first, without loopback and link-local ones. Those of container networks
 * count only where there are no others: bridges have the same on every machine, and a tunnel's are reached through the others.
 */
export function nodeAddresses(interfaces: Interfaces): string[] {
  const usable = Object.entries(interfaces)
    .flatMap(([name, addresses = []]) => addresses.map((each) => ({ name, ...each })))
    .filter(({ internal, address }) => !internal && !isLinkLocal(address));
  const own = usable.filter(({ name }) => !isOfContainers(name));
  const rank = ({ family }: (typeof usable)[number]) => (family === 'IPv4' ? 0 : 1);
  return (own.length === 0 ? usable : own).sort((a, b) => rank(a) - rank(b)).map(({ address }) => address);
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab]/i.test(address);
}

/**
 * Names of links that container programs and Podwire make: their addresses are the same on every machine, or lead nowhere else.
 * Docker's bridges have `br-` and twelve digits; one such as `br-ex` has the addresses of an uplink.
 */
export function isOfContainers(name: string): boolean {
  return /^(docker|br-[0-9a-f]{12}$|cni|virbr|podman|lxc|kube-|nodelocaldns|podwire-)/.test(name);
}
