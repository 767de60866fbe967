/** Reads what `ovn-trace --detailed` prints (ovn-trace(8), versions 22.03 to 23.03). Pure. */

/** One pipeline of a switch or router. */
export interface LogicalPass {
  readonly pipeline: 'ingress' | 'egress';
  readonly datapath: string;
  readonly inport: string;
  /** Of egress alone. */
  readonly outport?: string;
  readonly flows: readonly LogicalFlow[];
}

/** A logical flow that has matched. */
export interface LogicalFlow {
  /** `ls_in_l2_lkup` */
  readonly stage: string;
  /** Absent where no flow has matched. */
  readonly match?: string;
  readonly priority?: number;
  /** Without semicolons; comments of ovn-trace are among them, with their slashes. */
  readonly actions: readonly string[];
}

export interface LogicalTrace {
  /** Those of the packet itself, in their order. */
  readonly passes: readonly LogicalPass[];
  /** A packet that OVN makes because of it: `arp`, `nd_ns`, `tcp_reset`, `icmp4`; its own way is left out. */
  readonly made?: string;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
interface Pass extends Writable<Omit<LogicalPass, 'flows'>> {
  readonly flows: (LogicalFlow & { readonly actions: string[] })[];
}

const header = /^(ingress|egress)\(dp="([^"]+)", inport="([^"]*)"(?:, outport="([^"]*)")?\)$/;
const flow = /^\d+\. (\w+)(?: \([^)]*\))?: (.*), priority (\d+), uuid [0-9a-f]+$/;
const miss = /^\d+\. (\w+)(?: \([^)]*\))?: no match/;
/** Heads of the packets that actions make, as ovn-trace names these blocks. */
const made = /^(arp|nd_ns|nd_na|icmp4|icmp6|icmp4_error|icmp6_error|tcp_reset|sctp_abort|reject)$/;

/** Undefined where the text is none of a trace. */
export function readTrace(text: string): LogicalTrace | undefined {
  const passes: Pass[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [, name] = made.exec(line) ?? [];
    if (name !== undefined) return { passes, made: name };
    readLine(line, passes);
  }
  return passes.length === 0 ? undefined : { passes };
}

function readLine(line: string, passes: Pass[]): void {
  const pass = readHeader(line);
  if (pass !== undefined) passes.push(pass);
  const flows = passes.at(-1)?.flows;
  if (pass !== undefined || flows === undefined || isDecoration(line)) return;
  const next = readFlow(line);
  if (next !== undefined) flows.push(next);
  else flows.at(-1)?.actions.push(line.replace(/;$/, ''));
}

function readHeader(line: string): Pass | undefined {
  const [, pipeline, datapath = '', inport = '', outport] = header.exec(line) ?? [];
  if (pipeline !== 'ingress' && pipeline !== 'egress') return undefined;
  return { pipeline, datapath, inport, ...(outport === undefined ? {} : { outport }), flows: [] };
}

function readFlow(line: string): Pass['flows'][number] | undefined {
  const [, stage, match, priority] = flow.exec(line) ?? [];
  if (stage !== undefined) return { stage, match: match!, priority: Number(priority), actions: [] };
  const [, missed] = miss.exec(line) ?? [];
  return missed === undefined ? undefined : { stage: missed, actions: [] };
}

/** Lines under heads, heads of connection tracking and multicast, and copies of log messages. */
const isDecoration = (line: string): boolean =>
  /^(-*|#.*|LOG: .*|(ct_\w+|multicast)\(.*\)|clone|push)$/.test(line);
