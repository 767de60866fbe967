/** Sets of the compiled form as sets of nftables. */
import type { NftElement, NftSet, NftValue } from '@podwire/backend-linux/resources';
import type { CompiledSet } from '@podwire/policy';
import { comment, element, set, setName } from './names.js';

export function planSet(compiled: CompiledSet): NftSet {
  const address = compiled.family === 4 ? 'ipv4_addr' : 'ipv6_addr';
  return set({
    name: setName(compiled),
    key: compiled.type === 'ports' ? [address, 'inet_proto', 'inet_service'] : [address],
    ...(compiled.type === 'nets' ? { interval: true } : {}),
    comment: comment(compiled.comment),
  });
}

export const planMember = (compiled: CompiledSet, member: string): NftElement =>
  element(setName(compiled), keyOf(compiled, member));

function keyOf({ type, family }: CompiledSet, member: string): NftValue[] {
  if (type === 'nets') return [{ type: family === 4 ? 'ipv4_interval' : 'ipv6_interval', value: member }];
  const [address = '', protocol, port] = member.split(',');
  const first: NftValue = { type: family === 4 ? 'ipv4_addr' : 'ipv6_addr', value: address };
  if (type === 'addresses') return [first];
  return [
    first,
    { type: 'inet_proto', value: protocol as 'tcp' | 'udp' | 'sctp' },
    { type: 'inet_service', value: Number(port) },
  ];
}
