import { createHash } from 'node:crypto';

/** A locally administered MAC that follows from a text. @param first its first octet, in hexadecimal digits */
export function digestMac(first: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return [first, ...digest.match(/../g)!].join(':');
}
