/** Changes of IP objects, as writes. Pure. */
import { type AnyObject, checkObject, type IP, type StoredObject } from '@podwire/objects';
import type { IpObject, OvnChange } from '../pods/contract.js';
import type { OvnWrite } from './contract.js';
import { fromIpObject } from './convert.js';

/** An IP object that goes and comes again is one write: its key has one revision to depend on. */
export function listIpWrites(
  changes: readonly OvnChange[],
  stored: ReadonlyMap<string, StoredObject<IP>>,
): OvnWrite[] {
  const put = new Set(changes.flatMap((change) => (change.type === 'put-ip' ? [change.ip.name] : [])));
  return changes.flatMap((change): OvnWrite[] => {
    if (change.type === 'put-ip') return [toWrite(change.ip, stored.get(change.ip.name))];
    if (change.type === 'annotate' || put.has(change.name)) return [];
    const before = stored.get(change.name);
    return before === undefined ? [] : [{ before, reason: change.reason }];
  });
}

const toWrite = (ip: IpObject, before: StoredObject<IP> | undefined): OvnWrite => ({
  ...{ before, after: checkIp(ip) },
  reason: before === undefined ? 'it has addresses' : 'its pod is another one, or asks for something else',
});

/** @throws Error for what the schema of an IP does not take */
function checkIp(ip: IpObject): AnyObject {
  const checked = checkObject(fromIpObject(ip));
  if (checked.ok) return checked.object;
  throw new Error(`IP ${ip.name}: ${checked.problems.map(({ message }) => message).join('; ')}`);
}
