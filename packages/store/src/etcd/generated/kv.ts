// Written by scripts/generate-messages.mjs from kv.proto. Do not edit.
import {
  bytes,
  defineMessage,
  enumeration,
  int64Number,
  int64Text,
  message,
  one,
  type MessageType,
} from '@podwire/protobuf';

/**
 * What etcd's store holds. Package, names and numbers are those of etcd 3.4 and 3.5; fields that Podwire has no use for are left
 * out, which proto3 allows on both sides.
 */

export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  readonly value: Buffer;
  /** Ids of leases use all 63 bits; 0 is none. */
  readonly lease: string;
}

export const KeyValue: MessageType<KeyValue> = defineMessage({
  key: one(1, bytes),
  modRevision: one(3, int64Number),
  value: one(5, bytes),
  lease: one(6, int64Text),
});

export const Event_EventType = {
  PUT: 0,
  DELETE: 1,
} as const;

export type Event_EventType = (typeof Event_EventType)[keyof typeof Event_EventType];

export interface Event {
  readonly type: Event_EventType;
  /** Of a deletion: the key, and the revision of the deletion. */
  readonly kv?: KeyValue | undefined;
}

export const Event: MessageType<Event> = defineMessage({
  type: one(1, enumeration<Event_EventType>()),
  kv: message(2, () => KeyValue),
});
