import { addRule, deleteRule } from '@podwire/netlink';
import type { IpRule } from '../resource.js';
import type { Provider } from './provider.js';

export const rule: Provider<IpRule> = {
  create: (resource) => [addRule(encode(resource))],
  remove: (resource) => [deleteRule(encode(resource))],
  compare: (resource, view) => {
    const { from, table, priority } = encode(resource);
    const found = view
      .side(resource.in)
      .rules()
      .some((entry) => entry.from === from && entry.table === table && entry.priority === priority);
    return found ? undefined : { missing: `there is no rule from ${from} to table ${table}` };
  },
};

const encode = ({ from, table, priority }: IpRule) => ({
  from,
  table,
  priority,
  family: from.includes(':') ? (6 as const) : (4 as const),
});
