/** The way of a packet from the pod to other nodes, hop by hop, each with its state in the kernel. Pure. */
import type { EndpointView, ExplainAnswer, StatusAnswer } from '../answers.js';
import type { Level, PathStep, ResourceRow } from '../shapes.js';
import type { Wording } from '../sources.js';

type Explained = ExplainAnswer['resources'][number];
type Naming = Pick<Wording, 'describeResource' | 'placeOf'>;

export function viewResources(
  explained: readonly Explained[],
  { describeResource, placeOf }: Naming,
): ResourceRow[] {
  return explained.map(({ resource, state, detail = '' }) => ({
    where: placeOf(resource),
    // The place has a column of its own.
    what: describeResource(resource).replace(/ in pod$/, ''),
    level: state === 'ok' ? 'good' : 'bad',
    detail: state === 'ok' ? '' : `${state}${detail === '' ? '' : `: ${detail}`}`,
  }));
}

export function viewPath(
  endpoint: EndpointView,
  explained: readonly Explained[],
  status: StatusAnswer | undefined,
  naming: Naming,
): PathStep[] {
  const { ifName, addresses, mac, hostInterface, portMappings } = endpoint;
  const rows = (test: (each: Explained) => boolean): readonly Explained[] => explained.filter(test);
  const inPod = rows(({ resource }) => naming.placeOf(resource) === 'pod');
  const pair = rows(({ resource }) => naming.placeOf(resource) === 'node+pod');
  const onNode = rows(({ resource }) => naming.placeOf(resource) === 'node');
  const isRoute = ({ resource }: Explained): boolean =>
    ['route', 'rule', 'neighbour'].includes(resource.kind);
  const routes = onNode.filter(isRoute);
  const rest = onNode.filter((each) => !isRoute(each));
  const say = (some: readonly Explained[]): string[] =>
    some.map(({ resource }) => naming.describeResource(resource));
  const ports = portMappings.map(({ hostPort, containerPort }) => `port ${hostPort} → ${containerPort}`);
  return [
    { where: 'pod', title: ifName, lines: [...addresses, mac], level: levelOf([...inPod, ...pair]) },
    {
      where: 'node',
      title: hostInterface,
      lines: ['host end of the veth pair', ...ports],
      level: levelOf([...pair, ...rest]),
    },
    { where: 'node', title: 'routes', lines: say(routes).slice(0, 6), level: levelOf(routes) },
    ...beyond(status),
  ];
}

function beyond(status: StatusAnswer | undefined): PathStep[] {
  const cluster = status?.cluster;
  if (cluster === null || cluster === undefined) {
    return [{ where: 'beyond', title: 'uplink', lines: ['this node is in no cluster'], level: 'unknown' }];
  }
  const { ipv4, ipv6 } = (cluster.underlay ?? {}) as { readonly ipv4?: string; readonly ipv6?: string };
  const { count, withProblems } = cluster.peers;
  const tunnel = cluster.tunnel === null ? [] : ['tunnel where routes cannot lead directly'];
  const peers = `${count} ${count === 1 ? 'peer' : 'peers'}${withProblems === 0 ? '' : `, ${withProblems} with problems`}`;
  const lines = [...[ipv4, ipv6].filter((each) => each !== undefined), ...tunnel, peers];
  return [{ where: 'beyond', title: 'other nodes', lines, level: withProblems > 0 ? 'bad' : 'good' }];
}

const levelOf = (explained: readonly Explained[]): Level =>
  explained.length === 0 ? 'unknown' : explained.every(({ state }) => state === 'ok') ? 'good' : 'bad';
