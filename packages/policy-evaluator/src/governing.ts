/** A policy as one endpoint meets it in one direction. */
import type { Packet, Side } from './packet.js';

export type Direction = 'ingress' | 'egress';

export interface GoverningRule {
  /** `spec.ingress[0]` */
  readonly path: string;
  readonly action: 'allow' | 'deny' | 'pass' | 'log';
  readonly matches: (packet: Packet) => boolean;
}

export interface Tier {
  readonly name: string;
  /** 0: in front of all tiers of Calico. 2: behind all. */
  readonly place: 0 | 1 | 2;
  readonly order: number;
  readonly end: 'deny' | 'pass';
}

export interface GoverningPolicy {
  readonly object: string;
  readonly name: string;
  readonly tier: Tier;
  readonly order: number;
  readonly rules: readonly GoverningRule[];
}

export const adminTier: Tier = { name: 'admin', place: 0, order: 0, end: 'pass' };
export const baselineTier: Tier = { name: 'baseline', place: 2, order: 0, end: 'pass' };
export const defaultTier: Tier = { name: 'default', place: 1, order: 1_000_000, end: 'deny' };

/** The one that the policy does not speak for: where `from` and `to` look. */
export const peerSide = (packet: Packet, direction: Direction): Side =>
  direction === 'ingress' ? packet.source : packet.destination;

export const describeObject = (object: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}): string => {
  const { name, namespace } = object.metadata;
  return `${object.apiVersion} ${object.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
};
