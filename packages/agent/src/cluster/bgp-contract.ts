import type { BgpSession, BgpView } from '@podwire/bird';

/** The daemon, wherever it runs. */
export interface BgpDaemon {
  /** Runs it, if that is our task, with this as its first configuration. Does nothing when it runs. */
  ensure(view: BgpView, signal: AbortSignal): Promise<void>;
  apply(view: BgpView, signal: AbortSignal): Promise<void>;
  sessions(signal: AbortSignal): Promise<BgpSession[]>;
  /** Ends what we run; its routes stay in the kernel. */
  stop(): Promise<void>;
  /** A file with a secret. @throws PodwireError CONFIG_INVALID naming the file */
  readSecret(file: string): string;
}

export interface BgpFollower {
  sessions(signal: AbortSignal): Promise<BgpSession[]>;
  stop(): Promise<void>;
}
