import { type NameRule, subdomainRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { named } from '../shared/text.js';
import { providerBridge } from './annotation-names.js';
import { nodeConditions, statusNames } from './conditions.js';
import { refuseProvider } from './provider-claims.js';
import { addProblems, apiVersion, objectName, type Problem, showValue, uniqueList } from './text.js';

/** Links have 15 characters at most, and the bridge of a network is `br-` with its name. */
const networkRule: NameRule = {
  ...subdomainRule,
  longest: 12,
  words: subdomainRule.words.replace('253', '12'),
};

export const networkName = named(networkRule);

/** Bridges of these names are there for something else. */
const takenNames: ReadonlyMap<string, string> = new Map([
  ['int', 'OVN itself'],
  ['external', 'gateways to the outside'],
]);

const linkName = z.string().regex(/^(?!\.{1,2}$)[!-.0-9;-~]{1,15}$/, {
  error: 'must be the name of an interface: at most 15 characters without blanks, / and :',
});

const customInterface = z.strictObject({
  interface: linkName.describe('The interface on these nodes.'),
  nodes: uniqueList(objectName, 10_000).describe(
    'Nodes whose interface has another name than defaultInterface.',
  ),
});

const spec = z.strictObject({
  defaultInterface: linkName.describe('The interface that joins the bridge of the network on a node.'),
  customInterfaces: z.array(customInterface).max(1024).default([]).describe('Interfaces of single nodes.'),
  excludeNodes: uniqueList(objectName, 10_000).describe('Nodes on which the network is not.'),
});

const status = z.strictObject({
  ready: z.boolean().default(false).describe('All nodes are ready that are not excluded.'),
  readyNodes: statusNames.describe('Nodes whose bridge has its interface.'),
  notReadyNodes: statusNames.describe('Nodes whose bridge is not ready.'),
  vlans: statusNames.describe('Vlans of the network.'),
  conditions: nodeConditions.describe('How it went on each node.'),
});

const fields = z.strictObject({
  ...typeFields(apiVersion, 'ProviderNetwork'),
  metadata: clusterMetadata(networkRule),
  spec: spec.describe('Which interfaces of which nodes belong to it.'),
  status: status.optional().describe('What the controller has found. Not taken from files.'),
});

type Fields = z.output<typeof fields>;

function* findNameProblems({ metadata: { name } }: Fields): Generator<Problem> {
  const owner = takenNames.get(name);
  if (owner !== undefined)
    yield [['metadata', 'name'], `must not be ${name}: ${providerBridge(name)} is the bridge of ${owner}`];
}

function* findInterfaceProblems({ metadata: { name }, spec: read }: Fields): Generator<Problem> {
  const bridge = providerBridge(name);
  const message = `must not be ${bridge}, the bridge that the network makes`;
  if (read.defaultInterface === bridge) yield [['spec', 'defaultInterface'], message];
  for (const [index, { interface: link }] of read.customInterfaces.entries())
    if (link === bridge) yield [['spec', 'customInterfaces', index, 'interface'], message];
}

function* findNodeProblems({ spec: { customInterfaces } }: Fields): Generator<Problem> {
  const first = new Map<string, number>();
  for (const [index, { nodes }] of customInterfaces.entries()) {
    const at = ['spec', 'customInterfaces', index, 'nodes'];
    if (nodes.length === 0) yield [at, 'must have one entry at least'];
    for (const [place, node] of nodes.entries()) {
      const earlier = first.get(node) ?? index;
      if (earlier !== index)
        yield [[...at, place], `must not be ${node}, whose interface is in customInterfaces[${earlier}]`];
      first.set(node, earlier);
    }
  }
}

const schema = fields.superRefine((read, context) =>
  addProblems(
    [...findNameProblems(read), ...findInterfaceProblems(read), ...findNodeProblems(read)],
    context,
  ),
);

export type ProviderNetwork = z.output<typeof schema>;

export const providerNetworkKind = defineKind<ProviderNetwork>({
  apiVersion,
  kind: 'ProviderNetwork',
  plural: 'provider-networks',
  shortNames: ['provider-network'],
  namespaced: false,
  summary: 'A network outside of the cluster, and the interfaces of nodes that lead to it.',
  schema,
  columns: [
    { title: 'DEFAULTINTERFACE', show: ({ spec: { defaultInterface } }) => defaultInterface },
    { title: 'READY', show: ({ status: found }) => showValue(found?.ready) },
  ],
  refuse: refuseProvider,
});
