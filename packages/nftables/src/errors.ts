import { DecodeError, NetlinkBatchError, type NetlinkFailure } from '@podwire/netlink';
import { compact } from '@podwire/platform';

export { DecodeError };

/** One thing that the kernel refused. */
export interface NftablesFailure {
  /** Index of the change in the list that was handed in; absent when the refusal concerns the whole. */
  readonly index?: number;
  /** The request, in nft's own words. */
  readonly label: string;
  /** The errno's name. */
  readonly code: string;
  readonly errno: number;
  /** The text of the kernel's extended ack, if it gave one. */
  readonly kernelMessage?: string;
}

/** The kernel refused a request. Of a list of changes nothing was carried out. `code` is the first failure's. */
export class NftablesError extends Error {
  readonly code: string;
  readonly failures: readonly NftablesFailure[];

  constructor(failures: readonly NftablesFailure[]) {
    super(failures.map(describeFailure).join('; '));
    this.name = 'NftablesError';
    this.code = failures[0]?.code ?? 'EIO';
    this.failures = failures;
  }
}

const meanings: Record<string, string> = {
  ENOENT: 'there is no such table, set or element',
  EEXIST: 'it is there already, or with other data',
  EBUSY: 'it is in use',
  EPERM: 'CAP_NET_ADMIN is missing in this namespace',
  ENFILE: 'the set is full',
  EINVAL: 'it does not fit the declaration',
};

function describeFailure({ label, code, kernelMessage }: NftablesFailure): string {
  const meaning = kernelMessage ?? meanings[code];
  return meaning === undefined ? `${label}: ${code}` : `${label}: ${code} (${meaning})`;
}

/** One failure by code, for what is found out without the kernel. */
export function refusal(code: string, errno: number, label: string, index?: number): NftablesError {
  return new NftablesError([{ label, code, errno, ...compact({ index }) }]);
}

/** A failure of the connection in this library's words; `locate` finds out what it is about. */
export function translateFailure(
  failure: NetlinkFailure,
  locate: (failure: NetlinkFailure) => { readonly label: string; readonly index?: number },
): NftablesFailure {
  const { code, errno, kernelMessage } = failure;
  return { ...locate(failure), code, errno, ...compact({ kernelMessage }) };
}

/** Runs one request, or a dump, and turns refusals of the kernel into {@link NftablesError}. */
export function translating<T>(label: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(label, error);
  }
}

export function translated(label: string, error: unknown): unknown {
  if (error instanceof NetlinkBatchError) {
    return new NftablesError(error.failures.map((failure) => translateFailure(failure, () => ({ label }))));
  }
  return error;
}
