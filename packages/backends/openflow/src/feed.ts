/** Hints of flows that other programs have changed, and of bridges that have begun anew. */
import type { ChangeFeed, Hint } from '@podwire/engine';
import { flowItem } from './items.js';
import { placeOf } from './kinds.js';
import type { BridgeLink, LinkEvent } from './link.js';

/** Hints that are kept between two reads; beyond that all of the bridge is looked at. */
const MOST = 1_024;

const lost: Hint = { keys: [], lost: true, marked: true };

export const watchBridge = (link: BridgeLink): ChangeFeed => ({
  place: placeOf(link.bridge),
  open() {
    let hints: Hint[] = [];
    const unsubscribe = link.subscribe((event) => {
      const hint = hintOf(link.bridge, event);
      if (hint === lost || hints.length === MOST) hints = [lost];
      else if (hint !== undefined && hints[0] !== lost) hints.push(hint);
    });
    return {
      read() {
        link.keepFollowing();
        const read = hints;
        hints = [];
        return { hints: read, more: false };
      },
      close: unsubscribe,
    };
  },
});

function hintOf(bridge: string, event: LinkEvent): Hint | undefined {
  if (event === 'missed') return lost;
  if (event.type !== 'flow_change') return undefined;
  if (event.change === 'missed') return lost;
  const { key, isOurs } = flowItem(bridge, event.flow);
  return { keys: [key], ...(isOurs && event.change !== 'delete' ? { marked: true } : {}) };
}
