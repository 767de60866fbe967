import { readStructure } from '../attributes.js';
import type { NetlinkMessage } from '../connection.js';
import { familyOf } from '../ip-address.js';
import { addRuleRequest, decodeRule, FIB_RULE_HDR, type Rule } from '../rule.js';
import { FakeErrno } from './errno.js';
import type { FakeContext } from './state.js';

/** RTM_NEWRULE */
export function newRule({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const rule = readRequest(message);
  const text = canonical(rule);
  if (namespace.rules.some((other) => canonical(other) === text)) throw new FakeErrno('EEXIST');
  namespace.rules.push(rule);
  return [];
}

function readRequest(message: NetlinkMessage): Rule {
  const rule = decodeRule(message);
  if (rule === undefined) throw new FakeErrno('EAFNOSUPPORT');
  return rule.mark === undefined || rule.markMask !== undefined ? rule : { ...rule, markMask: 0xffffffff };
}

const canonical = ({ protocol: _protocol, ...rule }: Rule): string =>
  JSON.stringify(Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)));

/** RTM_DELRULE: the first that has all that the request names. */
export function deleteRule({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const request = readRequest(message);
  const index = namespace.rules.findIndex((rule) => isMeant(rule, request));
  if (index < 0) throw new FakeErrno('ENOENT');
  namespace.rules.splice(index, 1);
  return [];
}

const isMeant = (rule: Rule, request: Rule): boolean =>
  (Object.keys(request) as (keyof Rule)[]).every((key) => rule[key] === request[key]);

/** RTM_GETRULE */
export function dumpRules({ namespace }: FakeContext, message: NetlinkMessage): Buffer[] {
  const family = familyOf(readStructure(message.payload, FIB_RULE_HDR, 'fib_rule_hdr')[0]!);
  return namespace.rules
    .filter((rule) => family === undefined || rule.family === family)
    .sort((a, b) => a.family - b.family || a.priority - b.priority)
    .map((rule) => addRuleRequest(rule).payload as Buffer);
}
