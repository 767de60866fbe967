/** Follows a packet from switch to switch, as far as they can be asked from here. */
import { type ReadOptions, readBridge } from '../flows/read.js';
import { type Arrival, findArrivals } from './arrivals.js';
import { type HopView, viewHop } from './hop.js';
import type { ClusterNames } from './names.js';
import { findInPort, formatPacket, type Question } from './question.js';
import { type TracePlace, tracePacket } from './read.js';

export interface Walk {
  readonly hops: readonly HopView[];
  /** On nodes whose switch cannot be asked from here. */
  readonly unasked: readonly Arrival[];
}

/** The switches that can be asked from here besides the first one, and the names of their cluster. */
export interface Switches {
  readonly names: ClusterNames;
  /** The switch of a node; undefined where it cannot be asked. */
  readonly findSwitch: (node: string | undefined) => TracePlace | undefined;
}

export interface WalkParts extends Switches, ReadOptions {
  /** The port of the first bridge that the packet comes from, in place of that of the sender. */
  readonly inPort?: string | undefined;
}

/**
 * Ends at the second node: a packet that has come through the tunnel cannot leave by it, as Open vSwitch sends nothing out of the
 * port where it came in.
 * @throws PodwireError SWITCH_UNAVAILABLE, PRIVILEGE_MISSING, REQUEST_INVALID; the reason of the signal
 */
export async function followPacket(question: Question, first: TracePlace, parts: WalkParts): Promise<Walk> {
  const hops = [await askSwitch(question, first, parts)];
  const unasked: Arrival[] = [];
  for (const arrival of findArrivals(question, hops[0]!, parts.names)) {
    const place = parts.findSwitch(arrival.node);
    if (place === undefined) unasked.push(arrival);
    else hops.push(await askSwitch(arrival.question, place, { ...parts, inPort: undefined }));
  }
  return { hops, unasked };
}

async function askSwitch(question: Question, place: TracePlace, parts: WalkParts): Promise<HopView> {
  const { names, inPort: named, signal, timeout } = parts;
  const { bridge } = place;
  const dump = await readBridge(place, { signal, timeout });
  const inPort = findInPort(question, bridge, dump, named);
  const trace = await tracePacket(place, formatPacket(question, inPort), { signal, timeout });
  return viewHop({ question, bridge, inPort, dump, trace }, names);
}
