/** Decisions of the stages of a logical datapath, in words. Pure. */
import type { LogicalFlow } from './trace-text.js';

export interface Decision {
  /** `ls_out_acl` */
  readonly stage: string;
  /** In words: `ACL ip (priority 1000): drop` */
  readonly text: string;
  /** The packet ends here. */
  readonly isEnd: boolean;
}

/** Undefined for stages that pass a packet on as it is. */
export function describeDecision(flow: LogicalFlow): Decision | undefined {
  const { stage, match } = flow;
  const isEnd = endsPacket(flow);
  const words = describers.find(({ stages }) => stages.test(stage))?.describe(flow);
  if (words !== undefined) return { stage, text: words, isEnd };
  if (!isEnd) return undefined;
  return { stage, text: match === undefined ? 'no flow matches: drop' : `${match}: drop`, isEnd };
}

/** A flow that neither passes the packet on, nor gives it to connection tracking, which passes it on. */
export const endsPacket = ({ actions }: LogicalFlow): boolean =>
  !actions.some((action) => /^(next|output|ct_(next|snat|dnat|lb\w*|commit_nat))\b/.test(action));

const find = (actions: readonly string[], pattern: RegExp): string | undefined =>
  actions.map((action) => pattern.exec(action)?.[1]).find((found) => found !== undefined);

interface Acl {
  readonly match: string;
  readonly priority: number;
}

const aclStage = /^ls_(in|out)_acl(_after_lb)?$/;

/** Undefined for other flows. ovn-northd adds 1000 to priorities of ACLs; those outside of that range are its own. */
export function readAcl({ stage, match = '', priority = 0 }: LogicalFlow): Acl | undefined {
  if (!aclStage.test(stage)) return undefined;
  const own = priority - 1_000;
  if (own < 0 || own > 32_767) return undefined;
  return { match: match.replace(/^(reg\d+\[\d+\] == 1 && )+\((.*)\)$/, '$2'), priority: own };
}

function describeAcl(flow: LogicalFlow): string | undefined {
  const acl = readAcl(flow);
  if (acl === undefined) return undefined;
  const isRefused = flow.actions.some((action) => action.startsWith('reject'));
  const verdict = isRefused ? 'reject' : endsPacket(flow) ? 'drop' : 'allow';
  return `ACL ${acl.match} (priority ${acl.priority}): ${verdict}`;
}

/** It is the last stage of egress, too. */
const describePortSecurity = (flow: LogicalFlow): string | undefined =>
  endsPacket(flow) ? 'port security: the addresses are not those of the port: drop' : describeOutput(flow);

function describeRoute(flow: LogicalFlow): string {
  if (endsPacket(flow)) return 'no route: drop';
  const prefix = find([flow.match ?? ''], /(ip[46]\.(?:src|dst) == \S+)/)?.replace(
    /^ip[46]\.(\w+) == /,
    '$1 ',
  );
  const hop = find(flow.actions, /^x*reg0 = ([\da-f.:]+)$/);
  const port = find(flow.actions, /^outport = "([^"]+)"$/);
  const way = hop === undefined ? 'connected' : `via ${hop}`;
  return `route ${prefix?.replace(/^dst /, '') ?? flow.match}: ${way}${port === undefined ? '' : `, by ${port}`}`;
}

function describePolicy({ stage, match, priority = 0, actions }: LogicalFlow): string | undefined {
  const hop = find(actions, /^x*reg0 = ([\da-f.:]+)$/);
  if (stage === 'lr_in_policy_ecmp') return hop === undefined ? undefined : `one of several ways: ${hop}`;
  if (priority === 0) return undefined;
  const verdict = actions.includes('drop') ? 'drop' : hop === undefined ? 'allow' : `reroute to ${hop}`;
  return `policy ${match} (priority ${priority}): ${verdict}`;
}

export const isAnswer = ({ stage, actions }: LogicalFlow): boolean =>
  stage === 'lr_in_ip_input' && actions.some((action) => /^ip[46]\.\w+ <-> ip[46]\.\w+$/.test(action));

const describeAnswer = (flow: LogicalFlow): string | undefined =>
  isAnswer(flow) ? 'the router answers' : undefined;

export const asksForNeighbour = ({ actions }: LogicalFlow): boolean =>
  actions.some((action) => /^(arp|nd_ns) \{/.test(action));

function describeNeighbour(flow: LogicalFlow): string | undefined {
  if (asksForNeighbour(flow)) return 'the MAC of the next hop is not known: the router asks for it';
  const mac = find(flow.actions, /^eth\.dst = ([\da-f:]+)$/);
  return mac === undefined || flow.stage === 'lr_in_arp_request' ? undefined : `the next hop has MAC ${mac}`;
}

function describeNat({ actions }: LogicalFlow): string | undefined {
  return actions.find((action) => /^(ct_(snat|dnat|lb)\w*\(.*\)|ip[46]\.(src|dst) ?= ?.*)$/.test(action));
}

/** Of the last flow of a pipeline. */
export function readOutput({ actions }: LogicalFlow): { port: string; type: string } | undefined {
  for (const action of actions) {
    const [, port, type] = /^\/\* output to "([^"]+)", type "(\w*)" \*\/$/.exec(action) ?? [];
    if (port !== undefined && type !== undefined) return { port, type };
  }
  return undefined;
}

function describeOutput(flow: LogicalFlow): string | undefined {
  const output = readOutput(flow);
  return output === undefined ? undefined : `output to ${output.port}`;
}

interface Describer {
  readonly stages: RegExp;
  readonly describe: (flow: LogicalFlow) => string | undefined;
}

/** The first for a stage is the one. */
const describers: readonly Describer[] = [
  { stages: aclStage, describe: describeAcl },
  { stages: /^ls_(in|out)_(apply_)?port_sec/, describe: describePortSecurity },
  { stages: /^lr_in_ip_routing$/, describe: describeRoute },
  { stages: /^lr_in_policy(_ecmp)?$/, describe: describePolicy },
  { stages: /^lr_in_ip_input$/, describe: describeAnswer },
  { stages: /^lr_in_arp_(resolve|request)$/, describe: describeNeighbour },
  { stages: /_(dnat|undnat|snat|unsnat|lb)$/, describe: describeNat },
  { stages: /.*/, describe: describeOutput },
];
