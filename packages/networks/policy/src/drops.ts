/** Packets that are dropped, and what the kernel's log says of them. */
import type { DropReason } from './contract.js';
import type { Direction, Rule, Statement } from './names.js';

/** A flood fills no log: so many a second of each reason, and some at once. */
const limit: Statement = { is: 'limit', perSecond: 10, burst: 20 };
/** Bytes: headers, also those of IPv6 with some options. */
const snaplen = 128;
/** The kernel keeps 128 bytes, with the terminating zero (nf_log.h). */
const longestPrefix = 127;
const begin = 'podwire';

/** `about`: the tier, or the digest of the policy. */
export interface DropPrefix {
  readonly direction: Direction;
  readonly reason: DropReason['reason'];
  readonly about?: string;
}

/** `podwire ingress end-of-tier default` */
export const formatPrefix = ({ direction, reason, about = '' }: DropPrefix): string =>
  Buffer.from(`${begin} ${direction} ${reason} ${about}`.trimEnd()).subarray(0, longestPrefix).toString();

/** Undefined for what is not of a drop of ours. */
export function parseLogPrefix(text: string): DropPrefix | undefined {
  const found =
    /^podwire (ingress|egress) (rule|end-of-tier|unknown-link|spoofed|broken|default)(?: (.*))?$/.exec(
      text.trimEnd(),
    );
  if (found === null) return undefined;
  const [, direction, reason, about] = found as unknown as [string, Direction, DropReason['reason'], string?];
  return { direction, reason, ...(about === undefined ? {} : { about }) };
}

/** The prefix of the log entry that stands in front of a rule which drops. */
export function prefixOfDrop(rules: readonly Rule[], index: number): string | undefined {
  const isDrop = rules[index]?.statements.some(({ is }) => is === 'drop');
  const log = isDrop === true ? rules[index - 1]?.statements.find((each) => each.is === 'log') : undefined;
  return log?.is === 'log' ? log.prefix : undefined;
}

/** Logs some, drops all. */
export const dropRules = (prefix: DropPrefix, group: number): Rule[] => [
  { statements: [limit, { is: 'log', group, prefix: formatPrefix(prefix), snaplen }] },
  { statements: [{ is: 'counter' }, { is: 'drop' }] },
];

/** The action `Log` of Calico: what it says is no drop, so it goes to the group behind that of drops. */
export const logStatements = (group: number, about: string): Statement[] => [
  limit,
  { is: 'log', group: group + 1, prefix: `${begin} log ${about}`.slice(0, longestPrefix), snaplen },
];
