// Written by scripts/generate-messages.mjs from metrics.proto. Do not edit.
import {
  defineMessage,
  enumeration,
  int64,
  many,
  message,
  messages,
  one,
  string,
  type MessageType,
} from '@podwire/protobuf';
import { UInt64Value } from './common.js';

/** Figures that a runtime chooses itself, in the manner of Prometheus. */

export const MetricType = {
  COUNTER: 0,
  GAUGE: 1,
} as const;

export type MetricType = (typeof MetricType)[keyof typeof MetricType];

export type ListMetricDescriptorsRequest = Readonly<Record<string, never>>;

export const ListMetricDescriptorsRequest: MessageType<ListMetricDescriptorsRequest> = defineMessage({});

export interface ListMetricDescriptorsResponse {
  readonly descriptors: readonly MetricDescriptor[];
}

export const ListMetricDescriptorsResponse: MessageType<ListMetricDescriptorsResponse> = defineMessage({
  descriptors: messages(1, () => MetricDescriptor),
});

export interface MetricDescriptor {
  readonly name: string;
  readonly help: string;
  readonly labelKeys: readonly string[];
}

export const MetricDescriptor: MessageType<MetricDescriptor> = defineMessage({
  name: one(1, string),
  help: one(2, string),
  labelKeys: many(3, string),
});

export type ListPodSandboxMetricsRequest = Readonly<Record<string, never>>;

export const ListPodSandboxMetricsRequest: MessageType<ListPodSandboxMetricsRequest> = defineMessage({});

export interface ListPodSandboxMetricsResponse {
  readonly podMetrics: readonly PodSandboxMetrics[];
}

export const ListPodSandboxMetricsResponse: MessageType<ListPodSandboxMetricsResponse> = defineMessage({
  podMetrics: messages(1, () => PodSandboxMetrics),
});

export interface PodSandboxMetrics {
  readonly podSandboxId: string;
  readonly metrics: readonly Metric[];
  readonly containerMetrics: readonly ContainerMetrics[];
}

export const PodSandboxMetrics: MessageType<PodSandboxMetrics> = defineMessage({
  podSandboxId: one(1, string),
  metrics: messages(2, () => Metric),
  containerMetrics: messages(3, () => ContainerMetrics),
});

export interface ContainerMetrics {
  readonly containerId: string;
  readonly metrics: readonly Metric[];
}

export const ContainerMetrics: MessageType<ContainerMetrics> = defineMessage({
  containerId: one(1, string),
  metrics: messages(2, () => Metric),
});

export interface Metric {
  /** That of a descriptor. */
  readonly name: string;
  /** nanoseconds since 1970; 0: measured just now */
  readonly timestamp: bigint;
  readonly metricType: MetricType;
  /** In the order of the descriptor's `label_keys`. */
  readonly labelValues: readonly string[];
  readonly value?: UInt64Value | undefined;
}

export const Metric: MessageType<Metric> = defineMessage({
  name: one(1, string),
  timestamp: one(2, int64),
  metricType: one(3, enumeration<MetricType>()),
  labelValues: many(4, string),
  value: message(5, () => UInt64Value),
});
