import type { Snapshot } from '@podwire/engine';
import type { BridgeLink } from './link.js';
import { lookAtAll, type View } from './view.js';

/** Everything on the bridges, each looked at once, when it is needed. A bridge that is silent is not asked again. */
export class BridgeSnapshot implements Snapshot {
  /** Never set: a bridge that no resource is on is not looked at. */
  declare readonly readAhead?: NonNullable<Snapshot['readAhead']>;
  readonly #views = new Map<BridgeLink, Promise<View>>();

  /** @throws OpenFlowError, Error of the system; the signal's reason */
  view(link: BridgeLink, signal: AbortSignal): Promise<View> {
    const known = this.#views.get(link);
    if (known !== undefined) return known;
    const view = link.look(signal, (connection, either) => lookAtAll(connection, link.bridge, either));
    this.#views.set(link, view);
    // A caller that gave up says nothing of the bridge.
    view.catch(() => {
      if (signal.aborted) this.#views.delete(link);
    });
    return view;
  }
}
