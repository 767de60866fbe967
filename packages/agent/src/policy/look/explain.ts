/** Explains the decision of policy on one connection: `POST /v1/policy/explain`. */
import { familyOf, formatAddress, parseAddress, tryParseAddress } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { Connection, Decision, PodFact } from '@podwire/policy';
import { z } from 'zod';
import type { Decide, NodePolicy } from '../contract.js';
import { lineOf, type RuleView } from './rule-view.js';

const question = z.strictObject({
  from: z.string().min(1).max(600),
  to: z.string().min(1).max(600),
  protocol: z.enum(['tcp', 'udp', 'sctp', 'icmp', 'icmpv6']).default('tcp'),
  /** A number, or the name of a port of the destination. */
  port: z.union([z.int().min(1).max(65_535), z.string().min(1).max(63)]).optional(),
  sourcePort: z.int().min(1).max(65_535).optional(),
  family: z.union([z.literal(4), z.literal(6)]).optional(),
});

export type ExplainQuestion = z.output<typeof question>;

/** One family of addresses. */
export interface ConnectionVerdict extends RuleView {
  readonly family: 4 | 6;
  readonly source: string;
  readonly destination: string;
  readonly protocol: string;
  readonly port?: number | undefined;
  readonly verdict: Decision['verdict'];
  readonly reason: Decision['reason'];
  /** The end that has decided: the destination's `ingress`, or the source's `egress`; absent where no pod is at either end. */
  readonly direction?: 'ingress' | 'egress' | undefined;
}

export interface Explanation extends ConnectionVerdict {
  readonly from: string;
  readonly to: string;
  /** Every family that both ends have. The verdict is `deny` where one of them is. */
  readonly connections: readonly ConnectionVerdict[];
  /** Of the ends that are pods, as this node knows them now. */
  readonly labels: { readonly from?: PodFact['labels']; readonly to?: PodFact['labels'] };
}

type Facts = Pick<NodePolicy, 'inputs' | 'compiler' | 'decider'>;

interface End {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly pod?: PodFact | undefined;
}

/** @throws PodwireError REQUEST_INVALID for ends that are not known or do not fit together */
export function explainConnection(policy: Facts, body: unknown): Explanation {
  const asked = readQuestion(body);
  const [from, to] = [findEnd(policy, 'from', asked.from), findEnd(policy, 'to', asked.to)];
  const destinationPort = readPort(asked, to);
  const pairs = pairAddresses(from, to, asked);
  const decide = policy.decider();
  const connections = pairs.map(({ source, destination }) =>
    describeVerdict(
      policy,
      decide,
      compact({
        source,
        destination,
        protocol: asked.protocol,
        destinationPort,
        sourcePort: asked.sourcePort,
      }),
    ),
  );
  const decisive = connections.find(({ verdict }) => verdict === 'deny') ?? connections[0]!;
  const labels = compact({ from: from.pod?.labels, to: to.pod?.labels });
  return { ...decisive, from: from.name, to: to.name, connections, labels };
}

function readQuestion(body: unknown): ExplainQuestion {
  const { success, data, error } = question.safeParse(body);
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new PodwireError('REQUEST_INVALID', problems.join('; '));
}

/** `pod/NAMESPACE/NAME`, `pod/NAME` (namespace `default`), `node/NAME`, or an address. */
function findEnd({ inputs }: Facts, side: string, text: string): End {
  const address = tryParseAddress(text);
  if (address !== undefined) return findAddress(inputs, formatAddress(address));
  const [kind, ...rest] = text.split('/');
  if (kind === 'node') {
    const node = inputs.nodes.facts.get(rest.join('/'));
    if (node !== undefined) return { name: text, addresses: node.addresses };
    throw unknownEnd(side, text, `known nodes: ${[...inputs.nodes.facts.keys()].sort().join(', ')}`);
  }
  const name = kind === 'pod' ? rest : [kind!, ...rest];
  const key = name.length === 1 ? `default/${name[0]}` : name.join('/');
  const pod = inputs.pods.pods.get(key);
  if (pod !== undefined) return { name: `pod/${key}`, addresses: pod.addresses, pod };
  throw unknownEnd(
    side,
    text,
    'no pod is called so; `pod/NAMESPACE/NAME`, `node/NAME` or an address is meant',
  );
}

function findAddress(inputs: Facts['inputs'], text: string): End {
  // While a pod goes, two may have the address: whose it is decides.
  const pod = inputs.pods.pods.get(inputs.podAt(text) ?? '');
  const name = pod === undefined ? text : `pod/${pod.namespace}/${pod.name}`;
  return { name, addresses: [text], pod };
}

const unknownEnd = (side: string, text: string, why: string): PodwireError =>
  new PodwireError('REQUEST_INVALID', `${side}: ${JSON.stringify(text)}: ${why}`);

function readPort({ port, protocol }: ExplainQuestion, { pod, name }: End): number | undefined {
  if (typeof port !== 'string') {
    if (port === undefined && ['tcp', 'udp', 'sctp'].includes(protocol))
      throw new PodwireError('REQUEST_INVALID', `port: ${protocol} needs one, as in 80/${protocol}`);
    return port;
  }
  const named = pod?.ports.find((each) => each.name === port && each.protocol === protocol);
  if (named !== undefined) return named.port;
  throw new PodwireError('REQUEST_INVALID', `port: ${name} has no ${protocol} port called ${port}`);
}

const icmpFamilies: Readonly<Partial<Record<string, 4 | 6>>> = { icmp: 4, icmpv6: 6 };

function pairAddresses(
  from: End,
  to: End,
  { family: wanted, protocol }: ExplainQuestion,
): { source: string; destination: string }[] {
  const pairs = ([4, 6] as const)
    .filter((family) => wanted === undefined || wanted === family)
    .filter((family) => (icmpFamilies[protocol] ?? family) === family)
    .flatMap((family) => {
      const [source, destination] = [from, to].map(({ addresses }) =>
        addresses.find((each) => familyOf(each) === family),
      );
      return source === undefined || destination === undefined ? [] : [{ source, destination }];
    });
  if (pairs.length > 0) return pairs;
  throw new PodwireError(
    'REQUEST_INVALID',
    `${from.name} and ${to.name} have no addresses of one family that ${protocol} could use`,
  );
}

/** The verdict, the end that decides, and the rule with its place. */
export function describeVerdict(
  policy: Pick<NodePolicy, 'inputs' | 'compiler'>,
  decide: Decide,
  connection: Connection,
): ConnectionVerdict {
  const { source, destination, protocol, destinationPort: port } = connection;
  const { verdict, egress, ingress } = decide(connection);
  const [direction, decision] = pickDecisive(egress, ingress);
  return {
    family: parseAddress(source).family,
    ...{ source, destination, protocol: String(protocol), verdict },
    ...compact({ port, direction }),
    reason: decision?.reason ?? 'default',
    ...(decision === undefined || direction === undefined
      ? {}
      : describeRule(policy, decision, connection, direction)),
  };
}

type Direction = 'ingress' | 'egress';

/** The end that denies; of two that allow the one that says more. */
function pickDecisive(
  egress: Decision | undefined,
  ingress: Decision | undefined,
): readonly [Direction | undefined, Decision | undefined] {
  if (egress?.verdict === 'deny') return ['egress', egress];
  if (ingress?.verdict === 'deny') return ['ingress', ingress];
  const isSilent = ingress === undefined || (ingress.reason === 'default' && egress !== undefined);
  if (!isSilent) return ['ingress', ingress];
  return egress === undefined ? [undefined, undefined] : ['egress', egress];
}

function describeRule(
  { compiler, inputs }: Pick<NodePolicy, 'inputs' | 'compiler'>,
  { policy: id, path, tier }: Decision,
  { source, destination }: Connection,
  direction: Direction,
): RuleView {
  const pod = inputs.podAt(direction === 'egress' ? source : destination);
  // Where no pod is, a host endpoint of this node is, and what it has is compiled here.
  const known = pod === undefined ? compiler.state : compiler.inspect(pod);
  const policy = id === undefined ? undefined : known?.policies.get(id);
  return compact({ policy: id, tier, path, ...(policy === undefined ? {} : lineOf(policy, path)) });
}
