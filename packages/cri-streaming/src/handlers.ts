/** Handlers of the streaming server; cri-docker and cri-native implement them. */
import type { Readable, Writable } from 'node:stream';

/** The ends of a process's streams. Absent where the client asked for none. With a terminal there is no `stderr`. */
export interface ProcessStreams {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
}

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

export interface StreamCall extends ProcessStreams {
  readonly tty: boolean;
  /** Sizes of the client's terminal as they change; ends with the stream. */
  readonly sizes: AsyncIterable<TerminalSize>;
  /** The client is gone, or the server stops. */
  readonly signal: AbortSignal;
}

export interface StreamingHandlers {
  /** @returns the exit code of the program. */
  exec(containerId: string, argv: readonly string[], call: StreamCall): Promise<number>;
  attach(containerId: string, call: StreamCall): Promise<void>;
  /** Joins `stream` to the port on localhost inside the sandbox's network namespace, until the server behind it is done. */
  portForward(
    sandboxId: string,
    port: number,
    stream: Readable & Writable,
    signal: AbortSignal,
  ): Promise<void>;
}
