/** Attachments of pods that work, but are rarely meant: a host port that hides a process of the node. */
import { PodwireError } from '@podwire/errors';
import { ApiError, type LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import type { EndpointView } from '../api/shapes.js';
import { joinPods } from './list.js';

/** Empty where no node agent answers: another network, or none. */
export async function readWarnings(nodeAgent: LocalApi, pods: readonly PodView[]): Promise<string[]> {
  try {
    const { endpoints } = await nodeAgent.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints');
    const own = joinPods({ pods, endpoints }).filter(({ pod }) => pod !== undefined);
    return own.flatMap(({ name, endpoints }) =>
      endpoints.flatMap(({ warnings = [] }) => warnings.map((warning) => `pod/${name}: ${warning}`)),
    );
  } catch (error) {
    if (error instanceof PodwireError || error instanceof ApiError) return [];
    throw error;
  }
}
