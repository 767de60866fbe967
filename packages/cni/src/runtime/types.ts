import type { CniArgs } from '../args.js';
import type { NetworkConfig } from '../config/network.js';
import type { CniError } from '../error.js';
import type { Exec } from '../exec/exec.js';
import type { Attachment, Command } from '../request.js';
import type { AnyResult } from '../result/types.js';
import type { JsonObject } from '../shape.js';
import type { CachedAttachment, CacheFiles } from './cache.js';

export interface RuntimeOptions {
  /** Directories to look for plugins in, in order; also what plugins get as `CNI_PATH`. */
  readonly pluginPath: readonly string[];
  /** Parent of `results/`; default `/var/lib/cni`, as Go's library has it. */
  readonly cacheDir?: string;
  /** How plugins are found and started; by default as processes. */
  readonly exec?: Exec;
  /** Milliseconds for one operation, all its plugins together; default 220,000, which is kubelet's. */
  readonly timeoutMs?: number;
  /** After a failed ADD, DEL what was done, in reverse; default false, where the caller must DEL (section 3). */
  readonly rollback?: boolean;
  /**
   * Wait for the disk when an attachment is cached, so that it survives a power loss; default true. The cache is
   * replaced atomically either way: without it a power loss may lose the newest entry, never leave half a file.
   */
  readonly durable?: boolean;
  /** Environment that plugins inherit; default that of this process at the time of `createRuntime`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly observer?: RuntimeObserver;
  /** File system of the cache. */
  readonly files?: CacheFiles;
  /** Milliseconds of a clock that only goes forward, for durations. */
  readonly now?: () => number;
}

/** Parameters of an attachment (section 3, "Attachment Parameters"). */
export interface AttachmentParameters extends Attachment {
  /** Path of the container's network namespace. For DEL and CHECK the cached one is taken when absent. */
  readonly netns?: string;
  /** `CNI_ARGS`. For DEL and CHECK the cached ones are taken when absent. */
  readonly args?: CniArgs;
  /** Values by capability. For DEL and CHECK those that are absent here are taken from the cache. */
  readonly capabilityArgs?: JsonObject;
}

export interface CallOptions {
  /** Gives up: waiting ends at once, a running plugin is ended with everything it started. */
  readonly signal?: AbortSignal;
  /** Milliseconds for this operation instead of the runtime's `timeoutMs`. Waiting for others does not count. */
  readonly timeoutMs?: number;
  /** Further variables for plugins, such as TRACEPARENT, TRACESTATE and BAGGAGE. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface DelOptions extends CallOptions {
  /**
   * Whose configuration to run: `cached` (default): as it was at ADD, the given one only without a cache; `given`: the
   * given one. The specification says it should not change between the two; people change it nevertheless.
   */
  readonly configuration?: 'cached' | 'given';
}

/** The operations that a DEL found to run. `none`: only a name was given and nothing is cached, so there was nothing to undo. */
export interface DelReport {
  readonly configuration: 'cached' | 'given' | 'none';
}

/** A plugin about to be started. */
export interface PluginStart {
  readonly command: Command;
  /** The plugin's type. */
  readonly plugin: string;
  readonly file: string;
  /** Position in the network's list; 0 for VERSION. */
  readonly index: number;
  readonly network?: string;
  readonly containerId?: string;
  readonly interfaceName?: string;
  /** True for the DELs that undo a failed ADD. */
  readonly rollback: boolean;
}

/** A plugin that has ended. */
export interface PluginFinish extends PluginStart {
  readonly durationMs: number;
  /** Null when it was ended by a signal or never started. */
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  /** The text that it wrote to standard error, on success too; meant for the runtime's log (section 5, "Error"). */
  readonly stderr: string;
  readonly error?: CniError;
}

/** Told of everything that happens. What an observer throws is ignored: watching must not break networking. */
export interface RuntimeObserver {
  pluginStarted?(call: PluginStart): void;
  pluginFinished?(call: PluginFinish): void;
  /** A cache file was of no use and was removed. */
  cacheDropped?(file: string, reason: CniError): void;
}

/**
 * Runs networks (specification, section 3). All methods reject with a CniError; PluginError when a plugin failed.
 * Within one runtime, operations on one container run one after the other and a GC runs alone (section 3, "Lifecycle &
 * Ordering"). Several processes that share a cache must see to that themselves.
 */
export interface Runtime {
  /**
   * Attaches a container ("Adding an attachment"): plugins in order, each with the result of the one before; the last
   * result is cached and returned, in the version in which it was printed (see `convertResult`). All plugins are looked
   * up before the first is started. After an error the caller must `del`, unless `rollback` is on.
   * @throws RollbackError when undoing a failed ADD failed too.
   */
  add(network: NetworkConfig, attachment: AttachmentParameters, options?: CallOptions): Promise<AnyResult>;
  /**
   * Detaches ("Deleting an attachment"): plugins in reverse with the cached result of ADD (from 0.4.0). The first
   * failure stops it and the cache is kept, so it can be repeated; going on could take down what another container
   * has by then (cni #924). By name alone it works from the cache, without any configuration file.
   */
  del(
    network: NetworkConfig | string,
    attachment: AttachmentParameters,
    options?: DelOptions,
  ): Promise<DelReport>;
  /**
   * Checks an attachment ("Checking an attachment"). With `disableCheck` it succeeds without running anything.
   * @throws CniError code 1 below 0.4.0; code 3 when no ADD is cached.
   */
  check(
    network: NetworkConfig | string,
    attachment: AttachmentParameters,
    options?: DelOptions,
  ): Promise<void>;
  /**
   * Removes what belongs to none of the valid attachments ("Garbage-collecting a network"): first a DEL for each cached
   * attachment of the network that is not among them, in any version; then, from 1.1.0, GC of each plugin. Goes on
   * after errors. With `disableGC` it does nothing.
   * @param valid the attachments still in use; `[]` and null: none is, where null does not tell the plugins.
   * @throws CniError with all failures in its details and an AggregateError as cause.
   */
  gc(network: NetworkConfig, valid: readonly Attachment[] | null, options?: CallOptions): Promise<void>;
  /** Asks whether ADDs can be served (section 2, STATUS). Below 1.1.0 it succeeds. @throws the first plugin's error. */
  status(network: NetworkConfig, options?: CallOptions): Promise<void>;
  /** The versions that a plugin speaks (section 2, VERSION). One that does not know the command speaks 0.1.0. */
  version(plugin: string, options?: CallOptions): Promise<readonly string[]>;
  /**
   * Tests that every plugin of the network is there and speaks its version.
   * @returns the capabilities that at least one plugin wants.
   * @throws CniError code 7 with every problem in its details.
   */
  validate(network: NetworkConfig, options?: CallOptions): Promise<readonly string[]>;
  /**
   * The attachments in the cache, of one container or all. Files that hold nothing usable are left out.
   * @throws CniError code 5 when the directory, or a file of the one container, cannot be read
   */
  attachments(containerId?: string): Promise<readonly CachedAttachment[]>;
}
