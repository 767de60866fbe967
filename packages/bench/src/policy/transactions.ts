/**
 * Cost of one change of a policy table through netlink, and of the same change by a start of nft. Needs root; works in
 * the network namespace that it is called in, in a table of its own.
 */
import { spawnSync } from 'node:child_process';
import {
  type Command,
  describeElement,
  describeRule,
  type ElementChange,
  findNft,
  type Nftables,
  type RuleDeclaration,
} from '@podwire/nftables';
import { summarize, type Summary } from '../statistics.js';
import { formatTable } from '../table.js';

/** Milliseconds, by netlink and by `nft -f`. */
export interface TransactionCost {
  readonly what: string;
  /** Chains with rules that were in the table already, each led to by a verdict map. */
  readonly chains: number;
  readonly netlink: Summary;
  readonly nft: Summary;
}

export interface TransactionBench {
  readonly nftables: Nftables;
  readonly signal: AbortSignal;
  /** Chains that are there already. */
  readonly sizes?: readonly number[];
  readonly rounds?: number;
}

const place = { family: 'inet', table: 'podwire-bench' } as const;
const RULES = 10;

const address = (number: number): string =>
  `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;

const rulesOf = (count: number, set = 'peers'): RuleDeclaration[] =>
  Array.from({ length: count }, (_, number) => ({
    statements: [
      { is: 'match', field: 'l4proto', value: 'tcp' },
      { is: 'match', field: 'th dport', value: 1_000 + number },
      { is: 'lookup', fields: ['ip saddr'], set },
      { is: 'counter' },
      { is: 'accept' },
    ],
  }));

const putChain = (name: string, rules: readonly RuleDeclaration[]): Command => ({
  ...{ op: 'put-chain', ...place },
  chain: { name, rules },
});

const element = (op: ElementChange['op'], number: number): ElementChange => ({
  ...{ op, ...place, set: 'peers' },
  key: [{ type: 'ipv4_addr', value: address(number) }],
});

const link = (number: number): Command => ({
  ...{ op: 'add', ...place, set: 'links' },
  key: [{ type: 'ifname', value: `cali${number}` }],
  verdict: { verdict: 'goto', chain: `policy${number}` },
});

/** A table in which so many links lead to chains. */
function tableOf(chains: number): Command[] {
  const numbers = Array.from({ length: chains }, (_, number) => number);
  return [
    { op: 'add-table', family: place.family, name: place.table },
    { op: 'add-set', ...place, set: { name: 'peers', key: ['ipv4_addr'] } },
    { op: 'add-set', ...place, set: { name: 'links', key: ['ifname'], data: 'verdict' } },
    ...numbers.map((number) => putChain(`policy${number}`, rulesOf(RULES))),
    ...numbers.map(link),
    {
      ...{ op: 'put-chain', ...place },
      chain: {
        name: 'forward',
        base: { type: 'filter', hook: 'forward', priority: 0 },
        rules: [{ statements: [{ is: 'vmap', fields: ['iifname'], map: 'links' }] }],
      },
    },
  ];
}

/** Each round has other content. */
interface Work {
  readonly what: string;
  readonly rounds: number;
  readonly commands: (round: number) => readonly Command[];
}

const elements = (round: number, count: number): ElementChange[] =>
  Array.from({ length: count }, (_, number) => element('add', (round + 1) * 65_536 + number));

function works(rounds: number): Work[] {
  return [
    { what: '1 element', rounds, commands: (round) => [element('add', round)] },
    { what: '1 link', rounds, commands: (round) => [{ ...link(0), key: linkKey(round) } as Command] },
    { what: 'a chain of 100 rules', rounds, commands: () => [putChain('policy0', rulesOf(100))] },
    {
      what: 'a chain of 10 rules and 100 elements',
      rounds,
      commands: (round) => [putChain('policy0', rulesOf(RULES)), ...elements(round, 100)],
    },
    { what: '10,000 elements', rounds: 3, commands: (round) => elements(round + 100, 10_000) },
  ];
}

const linkKey = (round: number) => [{ type: 'ifname', value: `other${round}` }] as const;

/** @throws Error when anything does not work: there is no figure for that */
export function measureTransactions({
  nftables,
  signal,
  sizes = [1, 100, 1_000],
  rounds = 30,
}: TransactionBench): TransactionCost[] {
  const program = findNft();
  const byNft = (commands: readonly Command[]): void => startNft(program, commands);
  return sizes.flatMap((chains) =>
    works(rounds).map((work) => {
      signal.throwIfAborted();
      const measure = (change: (commands: readonly Command[]) => void): Summary =>
        inTable(nftables, chains, () => summarize(timeRounds(work, change)));
      const { what } = work;
      return { what, chains, netlink: measure((all) => nftables.transact(all)), nft: measure(byNft) };
    }),
  );
}

function inTable<T>(nftables: Nftables, chains: number, work: () => T): T {
  nftables.transact(tableOf(chains));
  try {
    return work();
  } finally {
    nftables.deleteTable(place.family, place.table);
  }
}

function timeRounds({ rounds, commands }: Work, change: (commands: readonly Command[]) => void): number[] {
  return Array.from({ length: rounds }, (_, round) => {
    const all = commands(round);
    const begin = performance.now();
    change(all);
    return performance.now() - begin;
  });
}

const DEADLINE = 60_000;

function startNft(program: string, commands: readonly Command[]): void {
  const input = commands.flatMap(scriptOf).join('\n');
  const { status, stderr } = spawnSync(program, ['-f', '-'], { input, encoding: 'utf8', timeout: DEADLINE });
  if (status !== 0) throw new Error(`nft -f: ${stderr}`);
}

function scriptOf(command: Command): string[] {
  const table = `${place.family} ${place.table}`;
  if (command.op === 'add') return [`add element ${table} ${command.set} ${describeElement(command)}`];
  if (command.op !== 'put-chain') throw new RangeError(`${command.op} is not measured`);
  const { name, rules } = command.chain;
  const lines = rules.map((rule) => `add rule ${table} ${name} ${describeRule(rule)}`);
  return [`flush chain ${table} ${name}`, ...lines];
}

/** A line for each. */
export function formatTransactions(costs: readonly TransactionCost[]): string {
  const columns = ['change', 'chains', 'netlink p50', 'p99', 'nft p50', 'p99'];
  const show = (value: number): string => `${value.toFixed(2)} ms`;
  const rows = costs.map(({ what, chains, netlink, nft }) => [
    ...[what, String(chains), show(netlink.median), show(netlink.p99)],
    ...[show(nft.median), show(nft.p99)],
  ]);
  return formatTable([columns, ...rows]).join('\n');
}
