/** A testbed for people. */
import { compact } from '@podwire/platform';
import { type Colors, printable } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { type Column, renderTable } from '../render/table.js';
import { wrapText } from '../render/text.js';
import { formatAge } from '../render/times.js';
import type { NodeState, TestbedState } from './observe.js';

/** More pods than this are counted, not listed. */
const mostPods = 24;

/** @param width cells of a line */
export function renderState(state: TestbedState, now: number, paint: Colors, width = Infinity): string[] {
  const { name, shape, store, nodes, createdAt } = state;
  const facts = [
    formatPlural(nodes.length, 'node'),
    ...(shape.subnets > 1 ? [`${shape.subnets} subnets`] : []),
    ...describeModel(shape),
    { dual: 'IPv4 and IPv6', ipv4: 'IPv4', ipv6: 'IPv6' }[shape.families],
  ];
  const age = formatAge(now - createdAt);
  return [
    ...wrapText(`${paint.bold(`testbed ${name}`)}: ${facts.join(', ')}, up for ${age}`, width, 2),
    `store: ${store.kind}${store.kind === 'etcd' ? `, ${paintState(store.state, paint)}` : ', a directory that the agents share'}`,
    ...renderOvn(state, paint),
    '',
    ...renderNodes(nodes, paint, width),
    '',
    ...renderPods(state, paint, width),
    '',
    paint.dim(`What agents write: ${state.directory}/nodes/*/agent.log`),
  ];
}

/** The model, and how packets reach other nodes. */
function describeModel({ model, mode, encapsulation, fabric }: TestbedState['shape']): string[] {
  if (model === 'ovn') return ['model ovn', `${encapsulation}`];
  return model === 'sdn' ? [`model sdn (${mode})`, fabric] : [fabric];
}

function renderOvn({ northbound, southbound, ovn }: TestbedState, paint: Colors): string[] {
  if (ovn === undefined) return [];
  return [
    `northbound: ${northbound}, ${paintState(ovn.northbound, paint)}`,
    `southbound: ${southbound}, ${paintState(ovn.southbound, paint)}`,
    `ovn-northd: ${paintState(ovn['ovn-northd'], paint)}; controller: ${paintState(ovn.controller, paint)}`,
  ];
}

function renderNodes(nodes: readonly NodeState[], paint: Colors, width: number): string[] {
  const several = new Set(nodes.map(({ subnet }) => subnet)).size > 1;
  const head: Column[] = [
    { title: 'NODE' },
    ...(several ? [{ title: 'SUBNET', importance: 2 }] : []),
    { title: 'ADDRESSES', cut: 'list', least: 16, importance: 5 },
    { title: 'AGENT', cut: 'never', importance: Infinity },
    { title: 'MEMORY', right: true, importance: 1 },
    { title: 'BLOCKS', cut: 'list', least: 16, importance: 3 },
    { title: 'PODS', right: true, importance: 4 },
  ];
  const rows = nodes.map((node) => [
    paint.bold(node.name),
    ...(several ? [node.subnet] : []),
    node.addresses.join(' '),
    describeAgent(node, paint),
    node.agent.memory === undefined ? paint.dim('-') : `${Math.round(node.agent.memory / (1 << 20))} MiB`,
    node.blocks.length === 0 ? paint.dim('-') : node.blocks.join(' '),
    String(node.pods),
  ]);
  const problems = nodes.flatMap((node) =>
    describeProblems(node).map((problem) => `${paint.red('problem')}  ${node.name}: ${printable(problem)}`),
  );
  return [...renderTable({ head, rows }, paint, width), ...problems];
}

function describeProblems({ agent: { state, problem }, openVSwitch, ovnController }: NodeState): string[] {
  const daemons = { ...openVSwitch, ...compact({ 'ovn-controller': ovnController }) };
  const ended = Object.entries(daemons).filter(([, how]) => how !== 'running');
  return [
    ...(state === 'running' && problem !== undefined ? [problem] : []),
    ...ended.map(([what, how]) => `${what} is not running: it is ${how}`),
  ];
}

function describeAgent({ agent }: NodeState, paint: Colors): string {
  if (agent.state !== 'running') return paintState(agent.state, paint);
  if (agent.ready === undefined) return paint.red('no answer');
  return agent.ready ? paint.green('ready') : paint.red('not ready');
}

const paintState = (state: TestbedState['store']['state'], paint: Colors): string =>
  ({ running: paint.green, frozen: paint.yellow, ended: paint.red })[state](state);

/** Node by node, an address of each family in a column of its own. */
function renderPods({ pods, nodes, shape }: TestbedState, paint: Colors, width: number): string[] {
  if (pods.length === 0) return ['no pods'];
  if (pods.length > mostPods) return [`${pods.length} pods; podwire testbed status -o json lists them`];
  const families = [
    ...(shape.families === 'ipv6' ? [] : [{ title: 'IPV4', has: (text: string) => !text.includes(':') }]),
    ...(shape.families === 'ipv4' ? [] : [{ title: 'IPV6', has: (text: string) => text.includes(':') }]),
  ];
  const sorted = nodes.flatMap(({ name }) => pods.filter(({ node }) => node === name));
  const rows = sorted.map(({ namespace, name, node, addresses }) => [
    paint.bold(namespace === 'default' ? name : `${namespace}/${name}`),
    node,
    ...(addresses.length === 0
      ? [paint.red('not attached')]
      : families.map(({ has }) => addresses.find(has) ?? paint.dim('-'))),
  ]);
  const addresses = families.map(({ title }): Column => ({ title, cut: 'middle', least: 18 }));
  return renderTable({ head: ['POD', 'NODE', ...addresses], rows }, paint, width);
}

/** Next steps for one that has just come up. `podwire`: how this program is called. */
export function renderNext(
  { name, pods, nodes, ovn }: TestbedState,
  podwire: string,
  only: boolean,
  paint: Colors,
): string[] {
  const testbed = only ? '' : ` --testbed ${name}`;
  const [node] = nodes;
  const near = pods.find((pod) => pod.node === node?.name);
  const far = pods.find((pod) => pod.node !== node?.name && pod.addresses.length > 0);
  const commands: (readonly [string, string])[] = [
    [`${podwire} connectivity test${testbed}`, 'who reaches whom'],
    [`${podwire} testbed exec${testbed} ${node?.name} -- ip route`, 'on a node'],
    ...(near === undefined || far === undefined
      ? []
      : [
          [
            `${podwire} testbed exec${testbed} ${near.name} -- ping -c 3 ${far.addresses[0]}`,
            'or in a pod',
          ] as const,
        ]),
    [`${podwire} testbed exec${testbed} ${node?.name} -- podwire status`, "the node's agent"],
    [
      `${podwire} testbed exec${testbed} ${node?.name} -- podwire ${ovn === undefined ? 'ipam' : 'ovn'} show`,
      'all addresses',
    ],
    [`${podwire} testbed down${testbed}`, 'take it all away'],
  ];
  const width = Math.max(...commands.map(([line]) => line.length));
  return [
    paint.bold('Try next'),
    ...commands.map(([line, what]) => `  ${line.padEnd(width)}  ${paint.dim(`# ${what}`)}`),
  ];
}
