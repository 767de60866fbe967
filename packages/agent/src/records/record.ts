import type { Result } from '@podwire/cni';
import type { NamespaceIdentity, Resource } from '@podwire/engine';
import type { EndpointFacts } from '../policy/inputs/facts.js';
import type {
  Annotations,
  Attachment,
  Bandwidth,
  EndpointId,
  FoundLink,
  LeaseRecord,
  PodIdentity,
  PortMapping,
} from '@podwire/network-contract';

/** `wiring`: the list may be partly applied. `ready`: all of it is. `removing`: it may be partly gone. */
export type Phase = 'wiring' | 'ready' | 'removing';

/** The request of an endpoint as it was understood. */
export interface EndpointDetails {
  /** The network of the configuration. `id.network` is the CNI network, which may be called otherwise. */
  readonly network: string;
  readonly mac: string;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  /** Where the pod belonged when it was planned; absent in models without `resolve`. */
  readonly attachment?: Attachment;
  /** By which the pod asked for what it has; absent where there were none. */
  readonly annotations?: Annotations;
  /** Links of other plugins that the plan depends on; absent where there are none. */
  readonly foundLinks?: readonly FoundLink[];
  /** Names of the links that the node has for it; absent in records of agents that did not write them down. */
  readonly hostLinks?: readonly string[];
}

/**
 * The endpoint record: written before the first change, so that after a crash at any point it says what may exist.
 * One file each under `stateDir/endpoints`. All of it is JSON.
 */
export interface EndpointRecord {
  readonly version: 1;
  readonly id: EndpointId;
  readonly phase: Phase;
  readonly pod: PodIdentity;
  readonly namespace: NamespaceIdentity;
  readonly leases: readonly LeaseRecord[];
  /** Kept to compare, to explain and to plan again. */
  readonly endpoint: EndpointDetails;
  readonly resources: readonly Resource[];
  /** Scopes that its model needs on the node; absent where there are none. */
  readonly needs?: readonly string[];
  /** The CNI result as answered, in the newest version of the specification. */
  readonly answer: Result;
  /** milliseconds since the epoch */
  readonly createdAt: number;
  /** Facts that policy selects the pod by; absent in records of agents that knew no policy. */
  readonly facts?: EndpointFacts;
}

/** Bytes of a key that is part of a file name in every phase (NAME_MAX of limits.h is 255). */
export const longestKey = 255 - '.removing'.length;

/** A file among the records that is none. */
export interface BrokenRecord {
  /** Of the file. */
  readonly name: string;
  readonly reason: string;
  /** Whose it is, by its name; absent for files that are named otherwise. */
  readonly id?: EndpointId;
  readonly phase?: Phase;
  /** Text of the record, where it is a file that can be read. */
  readonly text?: string;
  /** A version wrote it that is newer than this one. */
  readonly isNewer?: true;
  /** It was not written to its end. */
  readonly isTorn?: true;
}

/** The persistence of endpoint records. Implementations: a directory (real), a map (tests). */
export interface RecordStore {
  /** Every record; what is none is reported in `broken` and never an exception. */
  readAll(): { records: EndpointRecord[]; broken: BrokenRecord[] };
  /** Takes away a file that is no record. A directory is put aside. @throws PodwireError RECORD_IO */
  discard(broken: Pick<BrokenRecord, 'name'>): void;
  /** Writes the record with its phase; replaces any earlier one of this endpoint. @throws PodwireError RECORD_IO */
  write(record: EndpointRecord): void;
  /** Moves a record to another phase; must not need disk space. @throws PodwireError RECORD_IO */
  advance(record: EndpointRecord, phase: Phase): EndpointRecord;
  /** Deletes the record in the phase it is in; absent is fine. @throws PodwireError RECORD_IO */
  delete(record: Pick<EndpointRecord, 'id' | 'phase'>): void;
}
