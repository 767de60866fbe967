/**
 * Names of links that container programs and Podwire make: their addresses are the same on every machine, or lead nowhere else.
 * Docker's bridges have `br-` and twelve digits; one such as `br-ex` has the addresses of an uplink.
 */
export function isOfContainers(name: string): boolean {
  return /^(docker|br-[0-9a-f]{12}$|cni|virbr|podman|lxc|kube-|nodelocaldns|podwire-)/.test(name);
}
