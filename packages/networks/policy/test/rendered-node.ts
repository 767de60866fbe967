/** A node whose packet filter is the rendered resources and nothing else: packets are run through them without a kernel. */
import type { NftChain, NftElement, NftSet } from '@podwire/backend-linux';
import type { Resource } from '@podwire/engine';
import type { RenderedDelta } from '../src/index.js';
import {
  createInterpreter,
  type Interpreter,
  type RulePacket,
  type TableContent,
} from '@podwire/nftables/interpret';

export type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

type Rendered = NftSet | NftChain | NftElement;

export class RenderedNode {
  readonly #resources = new Map<string, Resource>();
  #interpreters: readonly Interpreter[] | undefined;

  /** As the engine exchanges them: what is added takes the place of what has the same key. */
  take({ add, remove }: RenderedDelta): void {
    for (const resource of remove) this.#resources.delete(keyOf(resource));
    for (const resource of add) this.#resources.set(keyOf(resource), resource);
    this.#interpreters = undefined;
  }

  get resources(): readonly Resource[] {
    return [...this.#resources.values()];
  }

  /** Through the hooks in their order; a mark stays with the packet. */
  send(packet: RulePacket, hooks: readonly Hook[]): 'accept' | 'drop' {
    this.#interpreters ??= tablesOf(this.resources).map(createInterpreter);
    let { mark, ctMark } = packet;
    for (const hook of hooks)
      for (const interpreter of this.#interpreters) {
        const outcome = interpreter.run(hook, { ...packet, mark, ctMark });
        if (outcome.verdict === 'drop') return 'drop';
        ({ mark, ctMark } = outcome);
      }
    return 'accept';
  }
}

const isRendered = (resource: Resource): resource is Rendered =>
  ['nft-set', 'nft-chain', 'nft-element'].includes(resource.kind);

export function keyOf(resource: Resource): string {
  if (!isRendered(resource)) return JSON.stringify(resource);
  const place = `${resource.kind} ${resource.family} ${resource.table}`;
  if (resource.kind === 'nft-chain') return `${place} ${resource.chain.name}`;
  if (resource.kind === 'nft-set') return `${place} ${resource.set.name}`;
  return `${place} ${resource.set} ${resource.key.map(({ value }) => value).join(' . ')}`;
}

function tablesOf(resources: readonly Resource[]): TableContent[] {
  const rendered = resources.filter(isRendered);
  const names = [...new Set(rendered.map(({ family, table }) => `${family} ${table}`))];
  return names.map((name) =>
    contentOf(rendered.filter(({ family, table }) => `${family} ${table}` === name)),
  );
}

const contentOf = (resources: readonly Rendered[]): TableContent => ({
  chains: resources.flatMap((each) => (each.kind === 'nft-chain' ? [each.chain] : [])),
  sets: resources.flatMap((each) => (each.kind === 'nft-set' ? [each.set] : [])),
  elements: resources.flatMap((each) => (each.kind === 'nft-element' ? [toElement(each)] : [])),
});

const toElement = ({ set, key, value, chain }: NftElement): TableContent['elements'][number] => ({
  set,
  key,
  ...(value !== undefined && { value }),
  ...(chain !== undefined && { verdict: { verdict: 'goto', chain } }),
});
