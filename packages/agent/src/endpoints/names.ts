/** Names that an ADD may use. Endpoints of earlier versions may have others, so DEL, CHECK and GC do not ask here. */
import type { AttachmentRequest } from '@podwire/cni';
import { longestKey } from '../records/record.js';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';

/**
 * The names of an attachment become the name of its record, the interface name goes to the kernel, and people see all of
 * them on terminals. The container id and the network name are plain ASCII already.
 * @throws PodwireError REQUEST_INVALID
 */
export function checkNames(id: EndpointId, { args }: Pick<AttachmentRequest, 'args'>): void {
  if (Buffer.byteLength(endpointKey(id)) > longestKey) throw tooLong(id);
  const problem = interfaceProblem(id.ifName);
  if (problem !== undefined) {
    throw new PodwireError('REQUEST_INVALID', `CNI_IFNAME: ${quote(id.ifName)} ${problem}`);
  }
  const bad = args.find(([, value]) => hasControls(value));
  if (bad === undefined) return;
  const [key, value] = bad;
  throw new PodwireError(
    'REQUEST_INVALID',
    `CNI_ARGS ${quote(key)}: ${quote(value)} holds control characters`,
  );
}

/** The kernel takes a name with `%d` for a pattern, and refuses any other `%` (`dev_alloc_name`). */
function interfaceProblem(name: string): string | undefined {
  if (name.includes('%')) return 'holds a percent sign: the kernel would take it for a pattern of names';
  return hasControls(name) ? 'holds control characters' : undefined;
}

/** Control characters, and what turns the direction of the text behind it round. */
const hasControls = (text: string): boolean => /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(text);

/** Enough of it to recognise it. Characters that JSON does not escape are left out. */
const quote = (text: string): string =>
  JSON.stringify(text.slice(0, 64).replaceAll(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\uFFFD'));

function tooLong({ network, containerId, ifName }: EndpointId): PodwireError {
  const lengths = [network, containerId, ifName].map((name) => Buffer.byteLength(name));
  const message =
    `network name, container id and interface name (${lengths.join(', ')} bytes) ` +
    `may have ${longestKey - 2} bytes together: they become the name of a file`;
  return new PodwireError('REQUEST_INVALID', message);
}
