/** The calls under `/plugin/`, by their names. */
import type { z } from 'zod';
import type { ClusterView, Plan } from '../contract.js';
import {
  allocAddressSchema,
  createEndpointSchema,
  deleteEndpointSchema,
  releaseAddressSchema,
  updateEndpointSchema,
} from '../objects/calls.js';
import { readFields } from '../objects/read-fields.js';
import { planAllocAddress, planReleaseAddress } from './addresses.js';
import { planCreateEndpoint, planDeleteEndpoint, planUpdateEndpoint } from './endpoints.js';

/** @throws PodwireError as `readFields`, and what the plan refuses */
export type PluginCall = (cluster: ClusterView, body: unknown) => Plan;

const defineCall =
  <T>(name: string, schema: z.ZodType<T>, plan: (cluster: ClusterView, request: T) => Plan): PluginCall =>
  (cluster, body) =>
    plan(cluster, readFields(schema, name, body));

export const calls: ReadonlyMap<string, PluginCall> = new Map([
  ['allocAddress', defineCall('allocAddress', allocAddressSchema, planAllocAddress)],
  ['releaseAddress', defineCall('releaseAddress', releaseAddressSchema, planReleaseAddress)],
  ['createEndpoint', defineCall('createEndpoint', createEndpointSchema, planCreateEndpoint)],
  ['deleteEndpoint', defineCall('deleteEndpoint', deleteEndpointSchema, planDeleteEndpoint)],
  ['updateEndpoint', defineCall('updateEndpoint', updateEndpointSchema, planUpdateEndpoint)],
]);
