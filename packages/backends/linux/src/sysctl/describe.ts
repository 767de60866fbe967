import type { Difference } from '@podwire/engine';
import * as is from '../checks.js';
import { linkKey } from '../keys.js';
import { inPlace } from '../kinds.js';
import type { Sysctl } from './resources.js';

export const describeSysctl = ({ in: place, key, value }: Sysctl): string =>
  `sysctl ${key}=${value}${inPlace(place)}`;

export function compareSysctl(
  { key, value, optional, initial }: Sysctl,
  found: string | undefined,
): Difference | undefined {
  if (initial === true) return undefined;
  if (found === undefined) return optional === true ? undefined : { missing: `there is no ${key}` };
  return found === value ? undefined : `${key} is ${found} instead of ${value}`;
}

export const checkSysctl = is.resource<Sysctl>({
  ...{
    in: is.side,
    key: is.text,
    value: is.text,
    optional: is.optional(is.flag),
    initial: is.optional(is.flag),
    after: is.optional(is.listOf(is.text)),
  },
});

const ofLink = /^net\/ipv[46]\/conf\/([^/]+)\//;

/** The link of a parameter. */
export function linkOfSysctl({ in: place, key }: Sysctl): string | undefined {
  const [, link = 'all'] = ofLink.exec(key) ?? [];
  return link === 'all' || link === 'default' ? undefined : linkKey(place, link);
}

/** A parameter of a link needs the link; others what their plan says. */
export function keysBeforeSysctl(resource: Sysctl): readonly string[] {
  const [link, { after = [] }] = [linkOfSysctl(resource), resource];
  return link === undefined ? after : [link, ...after];
}
