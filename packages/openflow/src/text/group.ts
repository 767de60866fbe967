/** Groups as in ovs-ofctl(8): `group_id=1,type=select,bucket=weight:5,actions=output:1`. */
import type { Bucket, Group, GroupType } from '../group.js';
import { parseActions, parsePort } from './actions.js';
import { formatActions } from './format-actions.js';
import { parseCount, quote, splitKey, splitOutside } from './split.js';

const types: Readonly<Record<string, GroupType>> = {
  all: 'all',
  select: 'select',
  indirect: 'indirect',
  ff: 'fast_failover',
  fast_failover: 'fast_failover',
};

type Mutable = { -readonly [Key in keyof Bucket]: Bucket[Key] };

const SETTING = /^(weight|watch_port|watch_group|bucket_id):(.+)$/;

function applySetting(bucket: Mutable, key: string, value: string, type: GroupType): void {
  if (key === 'weight' && type === 'select' && value !== '1') bucket.weight = parseCount(value, 0xffff);
  if (key === 'watch_port') bucket.watchPort = parsePort(value);
  if (key === 'watch_group') bucket.watchGroup = parseCount(value);
}

function parseBucket(text: string, type: GroupType): Bucket {
  const bucket: Mutable = { actions: [] };
  const actions: string[] = [];
  for (const part of splitOutside(text, ',')) {
    const setting = SETTING.exec(part);
    if (setting !== null) applySetting(bucket, setting[1]!, setting[2]!, type);
    else actions.push(part.replace(/^actions?=/, ''));
  }
  return { ...bucket, actions: parseActions(actions.join(',')) };
}

/** Reads a group. @throws RangeError naming what is wrong */
export function parseGroup(text: string): Group {
  const [head = '', ...buckets] = text.split(/,?\s*bucket=/);
  const settings = new Map(splitOutside(head, ', \t').map((term) => splitKey(term, '=')));
  const type = types[settings.get('type') ?? ''];
  if (type === undefined) throw new RangeError(`not a type of groups: ${quote(settings.get('type') ?? '')}`);
  const id = parseCount(settings.get('group_id'));
  return { id, type, buckets: buckets.map((bucket) => parseBucket(bucket, type)) };
}

function formatBucket({ weight, watchPort, watchGroup, actions }: Bucket): string {
  const settings = [
    ...(weight === undefined ? [] : [`weight:${weight}`]),
    ...(watchPort === undefined ? [] : [`watch_port:${watchPort}`]),
    ...(watchGroup === undefined ? [] : [`watch_group:${watchGroup}`]),
  ];
  return `bucket=${[...settings, `actions=${formatActions(actions)}`].join(',')}`;
}

/** Writes a group in one line that ovs-ofctl(8) adds. */
export function formatGroup({ id, type, buckets }: Group): string {
  const name = type === 'fast_failover' ? 'ff' : type;
  return [`group_id=${id},type=${name}`, ...buckets.map(formatBucket)].join(',');
}
