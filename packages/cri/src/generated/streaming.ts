// Written by scripts/generate-messages.mjs from streaming.proto. Do not edit.
import {
  bool,
  bytes,
  defineMessage,
  int32,
  int64,
  many,
  one,
  string,
  type MessageType,
} from '@podwire/protobuf';

/** Programs inside a container, and ports of a sandbox. All but ExecSync answer with a URL to be opened by HTTP. */

export interface ExecSyncRequest {
  readonly containerId: string;
  readonly cmd: readonly string[];
  /** seconds; 0: as long as it takes */
  readonly timeout: bigint;
}

export const ExecSyncRequest: MessageType<ExecSyncRequest> = defineMessage({
  containerId: one(1, string),
  cmd: many(2, string),
  timeout: one(3, int64),
});

export interface ExecSyncResponse {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly exitCode: number;
}

export const ExecSyncResponse: MessageType<ExecSyncResponse> = defineMessage({
  stdout: one(1, bytes),
  stderr: one(2, bytes),
  exitCode: one(3, int32),
});

export interface ExecRequest {
  readonly containerId: string;
  readonly cmd: readonly string[];
  /** With a terminal there is no stderr of its own. */
  readonly tty: boolean;
  /** At least one of the three streams must be wanted. */
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export const ExecRequest: MessageType<ExecRequest> = defineMessage({
  containerId: one(1, string),
  cmd: many(2, string),
  tty: one(3, bool),
  stdin: one(4, bool),
  stdout: one(5, bool),
  stderr: one(6, bool),
});

export interface ExecResponse {
  readonly url: string;
}

export const ExecResponse: MessageType<ExecResponse> = defineMessage({
  url: one(1, string),
});

export interface AttachRequest {
  readonly containerId: string;
  /** At least one of the three streams must be wanted. */
  readonly stdin: boolean;
  /** Must be what the container was made with. */
  readonly tty: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export const AttachRequest: MessageType<AttachRequest> = defineMessage({
  containerId: one(1, string),
  stdin: one(2, bool),
  tty: one(3, bool),
  stdout: one(4, bool),
  stderr: one(5, bool),
});

export interface AttachResponse {
  readonly url: string;
}

export const AttachResponse: MessageType<AttachResponse> = defineMessage({
  url: one(1, string),
});

export interface PortForwardRequest {
  readonly podSandboxId: string;
  readonly port: readonly number[];
}

export const PortForwardRequest: MessageType<PortForwardRequest> = defineMessage({
  podSandboxId: one(1, string),
  port: many(2, int32),
});

export interface PortForwardResponse {
  readonly url: string;
}

export const PortForwardResponse: MessageType<PortForwardResponse> = defineMessage({
  url: one(1, string),
});
