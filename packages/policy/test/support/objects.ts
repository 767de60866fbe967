/** Objects as people write them, read by the schemas. */
import { type AnyObject, checkObject } from '@podwire/objects';
import { formatPath } from '@podwire/apimachinery';
import {
  formatSelector,
  type InputChange,
  type Peer,
  type Policy,
  type Selector,
  translateObject,
} from '../../src/index.js';

export type Fields = Readonly<Record<string, unknown>>;

export function readObject(value: unknown): AnyObject {
  const checked = checkObject(value);
  if (checked.ok) return checked.object;
  throw new Error(checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`).join('\n'));
}

export const make = (name: string, apiVersion: string, spec: Fields, metadata: Fields = {}): AnyObject => {
  const kind = name.split('/')[0]!;
  const [, own = 'a'] = name.split('/');
  return readObject({ apiVersion, kind, metadata: { name: own, ...metadata }, spec });
};

export const calico = (kind: string, spec: Fields, metadata: Fields = {}): AnyObject =>
  make(kind, 'projectcalico.org/v3', spec, metadata);

export function onlyChange(changes: readonly InputChange[]): InputChange {
  if (changes.length !== 1) throw new Error(`${changes.length} changes`);
  return changes[0]!;
}

export function policyOf(object: AnyObject): Policy {
  const { topic, value } = onlyChange(translateObject(object));
  if (topic !== 'policy' || value === undefined) throw new Error(`no policy but ${topic}`);
  return value;
}

const text = (selector: Selector): string => formatSelector(selector);

/** A peer or subject in one line; exact, since selectors have one text. */
export function describePeer(peer: Peer): string {
  switch (peer.is) {
    case 'pods':
      return [
        `pods ${text(peer.pods)} in ${text(peer.namespaces)}`,
        ...(peer.serviceAccounts === undefined ? [] : [`as ${text(peer.serviceAccounts)}`]),
      ].join(' ');
    case 'net':
      return [peer.cidr, ...peer.except.map((part) => `-${part}`)].join(' ');
    case 'nodes':
      return `nodes ${text(peer.labels)}`;
    case 'network-sets':
      return `sets ${text(peer.labels)} in ${peer.namespaces === 'global' ? 'none' : text(peer.namespaces)}`;
    case 'host-endpoints':
      return `hosts ${text(peer.labels)}`;
    case 'domains':
      return `domains ${peer.names.join(' ')}`;
    case 'service':
      return `service ${peer.namespace}/${peer.name}${peer.withPorts ? ' with ports' : ''}`;
  }
}
