// Written by scripts/generate-messages.mjs from events.proto. Do not edit.
import {
  defineMessage,
  enumeration,
  int64,
  message,
  messages,
  one,
  string,
  type MessageType,
} from '@podwire/protobuf';
import { ContainerStatus } from './container.js';
import { PodSandboxStatus } from './sandbox-status.js';

/** Changes as they happen, for those who would have to list again and again otherwise. */

export const ContainerEventType = {
  CONTAINER_CREATED_EVENT: 0,
  CONTAINER_STARTED_EVENT: 1,
  CONTAINER_STOPPED_EVENT: 2,
  CONTAINER_DELETED_EVENT: 3,
} as const;

export type ContainerEventType = (typeof ContainerEventType)[keyof typeof ContainerEventType];

export type GetEventsRequest = Readonly<Record<string, never>>;

export const GetEventsRequest: MessageType<GetEventsRequest> = defineMessage({});

export interface ContainerEventResponse {
  /** Id of the container, or of the sandbox where it is the sandbox that changed. */
  readonly containerId: string;
  readonly containerEventType: ContainerEventType;
  /** nanoseconds since 1970 */
  readonly createdAt: bigint;
  readonly podSandboxStatus?: PodSandboxStatus | undefined;
  /** Of all the sandbox's containers. */
  readonly containersStatuses: readonly ContainerStatus[];
}

export const ContainerEventResponse: MessageType<ContainerEventResponse> = defineMessage({
  containerId: one(1, string),
  containerEventType: one(2, enumeration<ContainerEventType>()),
  createdAt: one(3, int64),
  podSandboxStatus: message(4, () => PodSandboxStatus),
  containersStatuses: messages(5, () => ContainerStatus),
});
