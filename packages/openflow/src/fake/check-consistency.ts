/** Checks of actions against the match of their flow: a field is written only where every packet has it. */
import type { Action, Conntrack } from '../actions.js';
import { listFields } from '../codec/match.js';
import type { Masked } from '../field-value.js';
import { fieldOf, type FieldName } from '../fields.js';
import type { Match } from '../match.js';
import { isAllowed, type Lookup } from '../prerequisites.js';
import type { Subfield } from '../subfield.js';
import { refuseUnless } from './refusal.js';

const PRESENT = 0x1000n;
const INVALID = 0x10n;
const MOST_TAGS = 2;

/** Facts about the packets of a flow, as its actions change them. */
interface Packets {
  readonly of: Lookup;
  tags: number;
}

const needTag: readonly FieldName[] = ['vlan_vid', 'vlan_pcp'];

function checkField(name: FieldName, packets: Packets): void {
  const isThere = needTag.includes(name) ? packets.tags > 0 : isAllowed(fieldOf(name).requires, packets.of);
  refuseUnless(isThere, 'OFPBAC_MATCH_INCONSISTENT', `not every packet of the match has ${name}`);
}

const checkPart = ({ field }: Subfield, packets: Packets): void => checkField(field, packets);

function checkIp(packets: Packets, what: string): void {
  refuseUnless(
    isAllowed('ip', packets.of),
    'OFPBAC_MATCH_INCONSISTENT',
    `${what} of packets that are not IP`,
  );
}

function checkNatFamily(addresses: string, packets: Packets): void {
  const family = addresses.includes('::') || addresses.split(':').length > 2 ? 'ipv6' : 'ipv4';
  refuseUnless(isAllowed(family, packets.of), 'OFPBAC_MATCH_INCONSISTENT', 'addresses of another family');
}

function checkConntrack({ commit, zone, nat, alg }: Conntrack, packets: Packets): void {
  checkIp(packets, 'ct');
  const isInvalid = ((packets.of('ct_state')?.value ?? 0n) & INVALID) !== 0n;
  refuseUnless(!commit || !isInvalid, 'OFPBAC_MATCH_INCONSISTENT', 'an invalid connection is committed');
  if (typeof zone === 'object') checkPart(zone, packets);
  if (nat?.addresses !== undefined) checkNatFamily(nat.addresses, packets);
  if (alg !== undefined)
    refuseUnless(
      isAllowed(alg === 'ftp' ? 'tcp' : 'udp', packets.of),
      'OFPBAC_MATCH_INCONSISTENT',
      `${alg} of another protocol`,
    );
}

function checkAction(action: Action, packets: Packets): void {
  switch (action.type) {
    case 'set_field':
      return checkField(action.field, packets);
    case 'load':
    case 'pop':
      return checkPart(action.to, packets);
    case 'push':
    case 'output_field':
      return checkPart(action.from, packets);
    case 'move':
      checkPart(action.from, packets);
      return checkPart(action.to, packets);
    case 'dec_ttl':
      return checkIp(packets, 'dec_ttl');
    case 'ct':
      return checkConntrack(action, packets);
    case 'pop_vlan':
      refuseUnless(packets.tags > 0, 'OFPBAC_MATCH_INCONSISTENT', 'pop_vlan of packets without a tag');
      packets.tags -= 1;
      return;
    case 'push_vlan':
      refuseUnless(packets.tags < MOST_TAGS, 'OFPBAC_BAD_TAG', 'more than two tags');
      packets.tags += 1;
      return;
    case 'clone':
      return checkAll(action.actions, { ...packets });
    default:
  }
}

function checkAll(actions: readonly Action[], packets: Packets): void {
  for (const action of actions) checkAction(action, packets);
}

const hasTag = (found: ReadonlyMap<FieldName, Masked>): boolean =>
  (['vlan_vid', 'vlan_tci'] as const).some((name) => ((found.get(name)?.value ?? 0n) & PRESENT) !== 0n);

/** Other packets than those of the match pass these unchanged, so an action set may have them for any packet. */
const harmless: readonly Action['type'][] = ['dec_ttl', 'pop_vlan'];

/** Checks actions, and then an action set, which finds packets as the actions leave them. @throws Refusal */
export function checkConsistency(actions: readonly Action[], write: readonly Action[], match: Match): void {
  const found = new Map(listFields(match).map((entry) => [entry.field.name, entry]));
  const packets: Packets = { of: (name) => found.get(name), tags: hasTag(found) ? 1 : 0 };
  checkAll(actions, packets);
  checkAll(
    write.filter(({ type }) => !harmless.includes(type)),
    packets,
  );
}
