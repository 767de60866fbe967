/** What is done about endpoints whose records cannot be read: their addresses are held, until the files are taken away. */
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Network } from '../networks.js';
import type { BrokenRecords } from './broken-records.js';
import type { EndpointContext } from './context.js';

/** Keeps the addresses from being handed out. Again and again: pools come and go. */
export function adoptHeld({ broken, networks, clock, log }: EndpointContext): void {
  for (const { address, owner } of broken.held()) {
    const ipam = networks.find((network) => isIn(network, address))?.ipam;
    try {
      ipam?.adopt({ address, pool: '', owner, since: clock() });
    } catch (err) {
      log.debug({ err, address, owner }, 'an address of an unreadable record has another owner');
    }
  }
}

function isIn({ pools }: Network, text: string): boolean {
  try {
    const address = parseAddress(text);
    return pools.some(({ cidr }) => containsAddress(parsePrefix(cidr), address));
  } catch {
    return false;
  }
}

/**
 * Removes what is left of an endpoint whose record cannot be read: the file, and the hold on its addresses. The caller holds the endpoint.
 * @throws PodwireError RECORD_IO
 */
export function clearBroken(context: EndpointContext, key: string): void {
  const { broken, records, log } = context;
  for (const record of broken.ofEndpoint(key)) {
    records.discard(record);
    const before = owners(broken);
    broken.drop(record);
    const after = owners(broken);
    for (const owner of before) if (!after.has(owner)) release(context, owner);
    log.info({ file: record.name, endpoint: key }, 'removed a record that cannot be read');
  }
}

const owners = (broken: BrokenRecords): Set<string> => new Set(broken.held().map(({ owner }) => owner));

function release({ endpoints, networks, cluster }: EndpointContext, owner: string): void {
  // There may be a whole record of it too, and a pod.
  if (endpoints.get(owner) !== undefined) return;
  const leases = networks.flatMap(({ ipam }) => ipam.release(owner));
  for (const { address } of leases) cluster?.addressing.noteFree(address);
}
