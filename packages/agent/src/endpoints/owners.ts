/** Names of endpoints for the engine. */
import type { OwnerId } from '@podwire/engine';

const ENDPOINT = 'endpoint:';

/** @param key of the endpoint */
export const ownerOfEndpoint = (key: string): OwnerId => `${ENDPOINT}${key}`;

/** Key of the endpoint; undefined for the node, peers and policy. */
export const endpointOfOwner = (owner: OwnerId): string | undefined =>
  owner.startsWith(ENDPOINT) ? owner.slice(ENDPOINT.length) : undefined;
