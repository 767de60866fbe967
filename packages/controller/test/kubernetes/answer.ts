/** Annotations of a pod that has its addresses. */
export const prefix = 'ovn.kubernetes.io/';

export const answer = {
  ...{
    [`${prefix}logical_switch`]: 'red',
    [`${prefix}ip_address`]: '10.16.0.2',
    [`${prefix}allocated`]: 'true',
  },
  [`${prefix}mac_address`]: '0a:00:00:00:00:01',
};
