/** Hints of flows that other programs have changed, and of bridges that have begun anew. */
import { type ChangeFeed, type Hint, HintQueue } from '@podwire/engine';
import type { Flow } from '@podwire/openflow';
import { flowItem } from './items.js';
import { placeOf } from './kinds.js';
import type { BridgeLink } from './link.js';

/** Hints that are kept between two reads; beyond that all of the bridge is looked at. */
const MOST = 1_024;

export const watchBridge = (link: BridgeLink): ChangeFeed => ({
  place: placeOf(link.bridge),
  open() {
    const queue = new HintQueue(MOST);
    const unsubscribe = link.subscribe((event) => {
      if (event === 'missed') queue.lose();
      else if (event.type !== 'flow_change') return;
      else if (event.change === 'missed') queue.lose();
      else queue.add([hintOf(link.bridge, event)]);
    });
    return {
      read() {
        link.keepFollowing();
        return queue.read();
      },
      close: unsubscribe,
    };
  },
});

function hintOf(bridge: string, { flow, change }: { readonly flow: Flow; readonly change: string }): Hint {
  const { key, isOurs } = flowItem(bridge, flow);
  return { keys: [key], ...(isOurs && change !== 'delete' ? { marked: true } : {}) };
}
