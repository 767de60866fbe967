/** A node with its compiler and its rendered tables, and the way of a packet through the kernel's hooks. */
import type { Crossing, NodeEnd, PolicedNode } from '@podwire/policy-compliance';
import { createCompiler, type InputChange, type PodFact, type PolicyCompiler } from '@podwire/policy';
import { createPolicyRenderer, type LinkChange, type PolicyRenderer } from '../src/index.js';
import { type Hook, RenderedNode } from './rendered-node.js';

const uplink = 'eth0';

const linkOf = ({ namespace, name }: PodFact): string => `cali-${namespace}-${name}`;

export class SimulatedNode implements PolicedNode {
  readonly #name: string;
  readonly #compiler: PolicyCompiler;
  readonly #renderer: PolicyRenderer;
  readonly #filter = new RenderedNode();
  readonly #links = new Set<string>();

  constructor(name: string) {
    this.#name = name;
    this.#compiler = createCompiler({ node: name });
    this.#renderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 5 });
    this.#filter.take(this.#renderer.start());
  }

  take(changes: readonly InputChange[], pods: readonly PodFact[]): void {
    this.#filter.take(this.#renderer.apply(this.#compiler.apply(changes), this.#changeLinks(pods)));
  }

  lets({ packet, from, to }: Crossing): boolean {
    const hooks = hooksOf(from, to);
    const destinationType = hooks.includes('input') ? 'local' : 'unicast';
    const links = { inLink: linkTo(from), outLink: hooks.includes('input') ? undefined : linkTo(to) };
    return this.#filter.send({ ...packet, ...links, state: 'new', destinationType }, hooks) === 'accept';
  }

  get present(): readonly unknown[] {
    return this.#filter.resources;
  }

  get wanted(): readonly unknown[] {
    return this.#renderer.resources;
  }

  #changeLinks(pods: readonly PodFact[]): LinkChange[] {
    const present = pods.filter((pod) => pod.node === this.#name && pod.hostNetwork !== true);
    const gone = [...this.#links].filter((link) => !present.some((pod) => linkOf(pod) === link));
    for (const link of gone) this.#links.delete(link);
    for (const pod of present) this.#links.add(linkOf(pod));
    return [
      ...gone.map((link) => ({ link, value: undefined })),
      ...present.map((pod) => {
        const link = linkOf(pod);
        const value = { link, endpoint: `${pod.namespace}/${pod.name}`, addresses: pod.addresses };
        return { link, value };
      }),
    ];
  }
}

function hooksOf(from: NodeEnd, to: NodeEnd): readonly Hook[] {
  if (from === 'node') return ['output', 'postrouting'];
  return to === 'node' ? ['prerouting', 'input'] : ['prerouting', 'forward', 'postrouting'];
}

function linkTo(end: NodeEnd): string | undefined {
  if (end === 'node') return undefined;
  return end === 'elsewhere' ? uplink : linkOf(end);
}
