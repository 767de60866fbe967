/** Nodes as policy sees them: what host-network pods and the nodes themselves send from. */
import { formatAddress, parseAddress, parseInterfaceAddress } from '@podwire/addresses';
import type { Node } from '@podwire/cluster-state';
import type { InputChange, NodeFact } from '@podwire/policy';
import type { HostView } from '../../node/host-view.js';

/** The ends of tunnels too: a node sends to pods of other nodes from there. */
export function nodeFactOf({ name, labels, addresses, tunnel }: Node): NodeFact {
  const underlay = [addresses.ipv4, addresses.ipv6].flatMap((text) =>
    text === undefined ? [] : [withoutLength(text)],
  );
  const ends = [tunnel?.ipv4, tunnel?.ipv6].flatMap((text) => (text === undefined ? [] : [text]));
  return { name, labels, addresses: [...underlay, ...ends] };
}

const withoutLength = (text: string): string => formatAddress(parseInterfaceAddress(text).address);

/** With the addresses that its links have, as far as others could see them. */
export function ownNodeFact(
  name: string,
  labels: NodeFact['labels'],
  known: readonly string[],
  { addresses }: Pick<HostView, 'addresses'>,
): NodeFact {
  const own = addresses.map(({ address }) => address.split('/')[0]!).filter(isReachable);
  return { name, labels, addresses: [...new Set([...known, ...own])] };
}

function isReachable(text: string): boolean {
  const { family, value } = parseAddress(text);
  if (family === 4) return value >> 24n !== 127n && value >> 16n !== 0xa9fen;
  return value !== 1n && value >> 118n !== 0x3fan;
}

/** Tells only of what is other than before. */
export class NodeIndex {
  readonly #texts = new Map<string, string>();
  readonly #facts = new Map<string, NodeFact>();

  get facts(): ReadonlyMap<string, NodeFact> {
    return this.#facts;
  }

  note(key: string, value: NodeFact | undefined): readonly InputChange[] {
    const text = JSON.stringify(value);
    if (this.#texts.get(key) === text) return [];
    if (value === undefined) {
      if (!this.#texts.delete(key)) return [];
      this.#facts.delete(key);
    } else {
      this.#texts.set(key, text);
      this.#facts.set(key, value);
    }
    return [{ topic: 'node', key, value }];
  }
}
