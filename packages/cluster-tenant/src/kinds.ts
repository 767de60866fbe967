/** The kinds of objects by their names in the API. */
import type { z } from 'zod';
import type { ClusterView, ObjectType, Plan } from './contract.js';
import { groupKey, keyIn, networkKey, ruleKey } from './keys.js';
import { putGlobal } from './plan/globals.js';
import { putAppProfile, putGroup, putNetprofile, putNetwork, putPolicy, putTenant } from './plan/put.js';
import { putRule } from './plan/rules.js';
import { invalidField, readFields } from './objects/read-fields.js';
import {
  appProfileSchema,
  globalSchema,
  groupSchema,
  netprofileSchema,
  networkSchema,
  policySchema,
  ruleSchema,
  tenantSchema,
} from './objects/schemas.js';

export interface ObjectKind {
  readonly type: ObjectType;
  /** Reads a body whose object must have this key. @throws PodwireError as `readFields`, and what plans refuse */
  readonly planPut: (cluster: ClusterView, key: string, body: unknown) => Plan;
}

function defineKind<T>(
  type: ObjectType,
  schema: z.ZodType<T>,
  keyOf: (object: T) => string,
  put: (cluster: ClusterView, object: T) => Plan,
): ObjectKind {
  return {
    type,
    planPut: (cluster, key, body) => {
      const object = readFields(schema, `${type} ${key}`, body);
      if (keyOf(object) !== key)
        throw invalidField(`${type} ${key}`, 'key', `must be that of the fields, ${keyOf(object)}`);
      return put(cluster, object);
    },
  };
}

/** By the plural in paths, as the original spells it. */
export const objectKinds: ReadonlyMap<string, ObjectKind> = new Map([
  ['tenants', defineKind('tenant', tenantSchema, ({ tenantName }) => tenantName, putTenant)],
  ['networks', defineKind('network', networkSchema, networkKey, putNetwork)],
  ['endpointGroups', defineKind('endpointGroup', groupSchema, groupKey, putGroup)],
  ['policys', defineKind('policy', policySchema, (each) => keyIn(each, each.policyName), putPolicy)],
  ['rules', defineKind('rule', ruleSchema, ruleKey, putRule)],
  [
    'netprofiles',
    defineKind('netprofile', netprofileSchema, (each) => keyIn(each, each.profileName), putNetprofile),
  ],
  [
    'appProfiles',
    defineKind('appProfile', appProfileSchema, (each) => keyIn(each, each.appProfileName), putAppProfile),
  ],
  ['globals', defineKind('global', globalSchema, () => 'global', putGlobal)],
]);

/** Kinds of the original that are not there yet. */
export const missingKinds: ReadonlySet<string> = new Set([
  ...['aciGws', 'Bgps', 'extContractsGroups', 'serviceLBs', 'volumes', 'volumeProfiles'],
]);
