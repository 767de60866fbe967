/** Host endpoints of this node that name no link: the one that has an expected address is meant (Calico's `expectedIPs`). */
import { tryParseAddress, formatAddress } from '@podwire/addresses';
import { tunnel } from '@podwire/network-traffic';
import { referenceKey } from '@podwire/objects';
import { compact } from '@podwire/platform';
import type { HostEndpointFact, InputChange } from '@podwire/policy';
import type { HostView } from '../../node/host-view.js';
import type { PolicyProblem } from '../parts.js';

type HostChange = Extract<InputChange, { readonly topic: 'host-endpoint' }>;

/** Names of links by what they have: ADDRESS without a length. */
type Links = ReadonlyMap<string, string>;

/** Each method returns what has changed for the compiler. */
export class HostEndpointIndex {
  readonly #node: string;
  /** As they are written. */
  readonly #facts = new Map<string, HostEndpointFact>();
  readonly #links = new Map<string, string | undefined>();
  #byAddress: Links = new Map();
  #tunnel: string | undefined;

  constructor(node: string) {
    this.#node = node;
  }

  note({ topic, key, value }: HostChange): HostChange {
    if (value?.node !== this.#node || value.interfaceName !== undefined) {
      this.#facts.delete(key);
      this.#links.delete(key);
      return { topic, key, value };
    }
    this.#facts.set(key, value);
    return this.#resolve(key, value);
  }

  noteHost(host: Pick<HostView, 'links' | 'addresses'>): readonly HostChange[] {
    this.#byAddress = linksByAddress(host);
    this.#tunnel = host.links.find(({ name }) => name === tunnel.link)?.name;
    return [...this.#facts]
      .filter(([key, fact]) => this.#findLink(fact) !== this.#links.get(key))
      .map(([key, fact]) => this.#resolve(key, fact));
  }

  /** The tunnel, where the node has one: packets of the node to pods of other nodes go through it. */
  get linkToPods(): string | undefined {
    return this.#tunnel;
  }

  /** Name of the link of this node that has the address. */
  linkOf(address: string): string | undefined {
    return this.#byAddress.get(canonical(address));
  }

  get problems(): readonly PolicyProblem[] {
    return [...this.#facts]
      .filter(([key]) => this.#links.get(key) === undefined)
      .map(([name, { expectedIPs }]) => ({
        object: referenceKey({ apiVersion: 'projectcalico.org/v3', kind: 'HostEndpoint', name }),
        message: `no link of this node has one of its addresses: ${expectedIPs.join(', ')}`,
      }));
  }

  #resolve(key: string, fact: HostEndpointFact): HostChange {
    const interfaceName = this.#findLink(fact);
    this.#links.set(key, interfaceName);
    return { topic: 'host-endpoint', key, value: { ...fact, ...compact({ interfaceName }) } };
  }

  #findLink({ expectedIPs }: HostEndpointFact): string | undefined {
    return expectedIPs
      .map((address) => this.#byAddress.get(canonical(address)))
      .find((link) => link !== undefined);
  }
}

function linksByAddress({ links, addresses }: Pick<HostView, 'links' | 'addresses'>): Links {
  const names = new Map(links.map(({ index, name }) => [index, name]));
  return new Map(
    addresses.flatMap(({ link, address }) => {
      const name = names.get(link);
      return name === undefined ? [] : [[canonical(address.split('/')[0]!), name] as const];
    }),
  );
}

function canonical(text: string): string {
  const address = tryParseAddress(text);
  return address === undefined ? text : formatAddress(address);
}
