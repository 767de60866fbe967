/**
 * Parts of sets. A part says which things give members and is written as one text, so that equal parts are found to be
 * equal. Sets are unions of parts of one family and type.
 */
import { createHash } from 'node:crypto';
import { metadataName } from './labels.js';
import type { Selector } from '../selectors/contract.js';
import { formatSelector } from '../selectors/format.js';
import type { PodSelection } from '../model/policy.js';
import type { PolicyProtocol } from '../model/facts.js';
import type { CompiledSet, Family, SetType } from './contract.js';

/** Pods selected, under a text that is the same for all selections written the same. `node`: only pods on it. */
export interface Selection extends PodSelection {
  readonly key: string;
  readonly node?: string | undefined;
}

export type SetPart =
  /** Addresses of pods; with `port`, addresses with the port that each pod has under the name. */
  | {
      readonly from: 'pods';
      readonly selection: Selection;
      readonly port?: { readonly name: string; readonly protocol?: PolicyProtocol | undefined } | undefined;
    }
  | { readonly from: 'nodes'; readonly labels: Selector }
  | { readonly from: 'host-endpoints'; readonly labels: Selector }
  | { readonly from: 'network-sets'; readonly labels: Selector; readonly namespaces: Selector | 'global' }
  | { readonly from: 'domain'; readonly name: string }
  /** `withPorts`: addresses with their ports. */
  | { readonly from: 'service'; readonly key: string; readonly withPorts: boolean }
  | { readonly from: 'nets'; readonly nets: readonly string[] };

export interface SetDescription extends CompiledSet {
  readonly parts: readonly SetPart[];
}

const described = new WeakMap<PodSelection, Selection>();

/** One for both families, and for each time that the policy of the selection is compiled. */
export function describeSelection(of: PodSelection, node?: string): Selection {
  if (node !== undefined) return writeSelection(of, node);
  const selection = described.get(of) ?? writeSelection(of, undefined);
  described.set(of, selection);
  return selection;
}

function writeSelection(of: PodSelection, node: string | undefined): Selection {
  const { namespaces, pods, serviceAccounts } = of;
  const accounts = serviceAccounts === undefined ? '' : ` of ${formatSelector(serviceAccounts)}`;
  const where = node === undefined ? '' : ` on ${node}`;
  const key = `${formatSelector(pods)} in ${formatSelector(namespaces)}${accounts}${where}`;
  return { namespaces, pods, serviceAccounts, node, key };
}

/** @param parts at least one; in any order, repeated or not */
export function describeSet(type: SetType, family: Family, parts: readonly SetPart[]): SetDescription {
  const byText = new Map(parts.map((part) => [writePart(part), part]));
  const texts = [...byText.keys()].sort();
  const digest = createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 20);
  return {
    id: `${type[0]!}${family}-${digest}`,
    type,
    family,
    comment: shorten(texts.length === 1 ? texts[0]! : `${texts[0]!} and ${texts.length - 1} more`),
    parts: texts.map((text) => byText.get(text)!),
  };
}

function writePart(part: SetPart): string {
  switch (part.from) {
    case 'pods':
      return `${writePort(part.port)}pods ${part.selection.key}`;
    case 'nodes':
    case 'host-endpoints':
      return `${part.from} ${formatSelector(part.labels)}`;
    case 'network-sets':
      return `network sets ${formatSelector(part.labels)} in ${part.namespaces === 'global' ? 'no namespace' : formatSelector(part.namespaces)}`;
    case 'domain':
      return `domain ${part.name}`;
    case 'service':
      return `${part.withPorts ? 'ports of ' : ''}service ${part.key}`;
    case 'nets':
      return part.nets.join(' ');
  }
}

const writePort = (port: Extract<SetPart, { from: 'pods' }>['port']): string =>
  port === undefined ? '' : `port ${port.name}${port.protocol === undefined ? '' : `/${port.protocol}`} of `;

/** The kernel keeps up to 128 bytes of a comment. */
const shorten = (text: string): string => {
  const plain = text.replaceAll(metadataName, 'name').replaceAll(/[^\x20-\x7e]|["\\]/g, '?');
  return plain.length > 96 ? `${plain.slice(0, 93)}...` : plain;
};
