import type { AnyResource, Failure, Resource } from '@podwire/engine';
import {
  NetlinkBatchError,
  type NetlinkConnection,
  type NetlinkMessage,
  type NetlinkRequest,
} from '@podwire/netlink';

export type Encode = (resource: Resource) => readonly NetlinkRequest[];
type Learn = (resource: Resource, replies: readonly NetlinkMessage[]) => void;

interface Encoded {
  readonly requests: NetlinkRequest[];
  /** The resource that the request of the same index comes from. */
  readonly origins: Resource[];
  readonly failures: Failure[];
}

/** A resource that cannot be encoded (its link is not there, its namespace is gone) is a failure. */
export function encodeAll(resources: readonly Resource[], encode: Encode): Encoded {
  const encoded: Encoded = { requests: [], origins: [], failures: [] };
  for (const resource of resources) {
    try {
      for (const request of encode(resource)) {
        encoded.requests.push(request);
        encoded.origins.push(resource);
      }
    } catch (error) {
      encoded.failures.push({ resource, error });
    }
  }
  return encoded;
}

/** One `sendmsg` for all. Each failure belongs to the resource of its request. */
export function send(
  connect: () => NetlinkConnection,
  { requests, origins }: Pick<Encoded, 'requests' | 'origins'>,
  learn?: Learn,
): Failure[] {
  if (requests.length === 0) return [];
  try {
    const replies = connect().request(requests);
    if (learn !== undefined) for (const [index, one] of replies.entries()) learn(origins[index]!, one);
    return [];
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) return failAll(new Set(origins), error);
    return error.failures.map((failure) => ({
      resource: origins[failure.index]!,
      error: new NetlinkBatchError([failure]),
    }));
  }
}

export const failAll = (resources: Iterable<AnyResource>, error: unknown): Failure[] =>
  [...resources].map((resource) => ({ resource: resource as Resource, error }));

/** All of the resources share one outcome. */
export function together(resources: readonly AnyResource[], work: () => void): Failure[] {
  try {
    work();
    return [];
  } catch (error) {
    return failAll(resources, error);
  }
}
