import { createHash } from 'node:crypto';
import type { RuleDeclaration } from './statement.js';

/** Part of the digest: raised when rules are to be written anew by a newer version of this library. */
const FORMAT = 1;
const DIGEST_BYTES = 12;

const known = new WeakMap<RuleDeclaration, string>();

/**
 * Digest of a rule's declaration, in hexadecimal. It is kept with the rule in the kernel. A rule is never changed
 * there, only replaced, and no other program writes this: a rule with the right digest is the right rule.
 */
export function digestRule(rule: RuleDeclaration): string {
  const before = known.get(rule);
  if (before !== undefined) return before;
  const text = JSON.stringify([FORMAT, rule.statements, rule.comment]);
  const digest = createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * DIGEST_BYTES);
  known.set(rule, digest);
  return digest;
}

/** User data is a list of type, length, value. nft knows types 0 and 1 of rules and passes over others. */
const UDATA_DIGEST = 0x50;

export function encodeDigest(digest: string): Buffer {
  return Buffer.concat([Buffer.from([UDATA_DIGEST, DIGEST_BYTES]), Buffer.from(digest, 'hex')]);
}

export function findDigest(userdata: Buffer | undefined): string | undefined {
  if (userdata === undefined) return undefined;
  for (let at = 0; at + 2 <= userdata.length; at += 2 + userdata[at + 1]!) {
    if (userdata[at] === UDATA_DIGEST) return userdata.toString('hex', at + 2, at + 2 + userdata[at + 1]!);
  }
  return undefined;
}
