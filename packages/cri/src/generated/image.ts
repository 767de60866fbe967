// Written by scripts/generate-messages.mjs from image.proto. Do not edit.
import {
  bool,
  defineMessage,
  many,
  message,
  messages,
  one,
  string,
  textMap,
  type MessageType,
  uint64,
} from '@podwire/protobuf';
import { Int64Value } from './common.js';
import { PodSandboxConfig } from './sandbox.js';

/** Images: what is there, and pulling. */

export interface ImageSpec {
  /** A name with tag or digest, or an id. */
  readonly image: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** As the manifest spells it, before defaults were filled in. */
  readonly userSpecifiedImage: string;
  /** For which runtime handler; empty: the default one. */
  readonly runtimeHandler: string;
}

export const ImageSpec: MessageType<ImageSpec> = defineMessage({
  image: one(1, string),
  annotations: textMap(2),
  userSpecifiedImage: one(18, string),
  runtimeHandler: one(19, string),
});

export interface ImageFilter {
  readonly image?: ImageSpec | undefined;
}

export const ImageFilter: MessageType<ImageFilter> = defineMessage({
  image: message(1, () => ImageSpec),
});

export interface ListImagesRequest {
  readonly filter?: ImageFilter | undefined;
}

export const ListImagesRequest: MessageType<ListImagesRequest> = defineMessage({
  filter: message(1, () => ImageFilter),
});

export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  /** bytes */
  readonly size: bigint;
  /** The user its processes run as, where the image says a number. */
  readonly uid?: Int64Value | undefined;
  /** The same where it says a name. */
  readonly username: string;
  readonly spec?: ImageSpec | undefined;
  /** Not to be collected as garbage. */
  readonly pinned: boolean;
}

export const Image: MessageType<Image> = defineMessage({
  id: one(1, string),
  repoTags: many(2, string),
  repoDigests: many(3, string),
  size: one(4, uint64),
  uid: message(5, () => Int64Value),
  username: one(6, string),
  spec: message(7, () => ImageSpec),
  pinned: one(8, bool),
});

export interface ListImagesResponse {
  readonly images: readonly Image[];
}

export const ListImagesResponse: MessageType<ListImagesResponse> = defineMessage({
  images: messages(1, () => Image),
});

export interface ImageStatusRequest {
  readonly image?: ImageSpec | undefined;
  /** Fills `info` of the answer. */
  readonly verbose: boolean;
}

export const ImageStatusRequest: MessageType<ImageStatusRequest> = defineMessage({
  image: message(1, () => ImageSpec),
  verbose: one(2, bool),
});

export interface ImageStatusResponse {
  /** Absent where there is no such image; that is no error. */
  readonly image?: Image | undefined;
  readonly info: Readonly<Record<string, string>>;
}

export const ImageStatusResponse: MessageType<ImageStatusResponse> = defineMessage({
  image: message(1, () => Image),
  info: textMap(2),
});

export interface AuthConfig {
  readonly username: string;
  readonly password: string;
  /** Base64 of USER:PASSWORD, instead of the two. */
  readonly auth: string;
  readonly serverAddress: string;
  /** To be traded for a token of the registry. */
  readonly identityToken: string;
  /** Sent to the registry as it is. */
  readonly registryToken: string;
}

export const AuthConfig: MessageType<AuthConfig> = defineMessage({
  username: one(1, string),
  password: one(2, string),
  auth: one(3, string),
  serverAddress: one(4, string),
  identityToken: one(5, string),
  registryToken: one(6, string),
});

export interface PullImageRequest {
  readonly image?: ImageSpec | undefined;
  /** Absent: anonymously. */
  readonly auth?: AuthConfig | undefined;
  /** For which sandbox, where the runtime treats them differently. */
  readonly sandboxConfig?: PodSandboxConfig | undefined;
}

export const PullImageRequest: MessageType<PullImageRequest> = defineMessage({
  image: message(1, () => ImageSpec),
  auth: message(2, () => AuthConfig),
  sandboxConfig: message(3, () => PodSandboxConfig),
});

export interface PullImageResponse {
  /** Digest or id; what containers' `image_ref` will say. */
  readonly imageRef: string;
}

export const PullImageResponse: MessageType<PullImageResponse> = defineMessage({
  imageRef: one(1, string),
});

export interface RemoveImageRequest {
  readonly image?: ImageSpec | undefined;
}

export const RemoveImageRequest: MessageType<RemoveImageRequest> = defineMessage({
  image: message(1, () => ImageSpec),
});

export type RemoveImageResponse = Readonly<Record<string, never>>;

export const RemoveImageResponse: MessageType<RemoveImageResponse> = defineMessage({});
