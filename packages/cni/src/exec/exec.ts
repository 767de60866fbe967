/** One start of a plugin's executable. */
export interface PluginCall {
  /** Absolute path of the executable. */
  readonly file: string;
  /** The whole environment; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** The text for standard input. */
  readonly stdin: string | Uint8Array;
  /** Ends the plugin and everything it started. */
  readonly signal?: AbortSignal;
}

/** How a plugin ended. Either `code` or `signal` is null. */
export interface PluginExit {
  readonly code: number | null;
  /** The signal's name, as `SIGKILL`. */
  readonly signal: string | null;
  readonly stdout: string;
  /** At most the last 64 KiB. */
  readonly stderr: string;
}

/** Finds and starts plugins. The one interface between this library and the operating system's processes. */
export interface Exec {
  /**
   * The executable of a plugin type in the first directory that has it.
   * @throws CniError code 5 naming the type and the directories.
   */
  find(type: string, directories: readonly string[]): string | Promise<string>;
  /**
   * Runs a plugin to its end. Resolves whatever its exit was, also after `signal` ended it.
   * @throws CniError code 5 when it cannot be started, or prints more than is read.
   */
  run(call: PluginCall): Promise<PluginExit>;
}
