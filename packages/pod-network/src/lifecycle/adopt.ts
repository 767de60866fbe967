import path from 'node:path';
import { createResultCache } from '@podwire/cni';
import { loopbackNetwork } from './loopback.js';

/**
 * Copies what another runtime has cached of a sandbox, in the format of Go's library, so that DEL can be called for it here. What is
 * in a format of before libcni 0.8 has no configuration to call DEL with, and is left.
 * @param from the other's cache directory
 * @param stateDirectory of the pod network that gets it
 * @returns whether the sandbox has a network there
 */
export async function adoptAttachments(
  sandboxId: string,
  from: string,
  stateDirectory: string,
): Promise<boolean> {
  const theirs = createResultCache({ directory: from });
  const ours = createResultCache({ directory: path.join(stateDirectory, 'cache'), durable: true });
  const attachments = (await theirs.list(sandboxId)).flatMap(({ content }) =>
    content.kind === 'attachment' && content.attachment.containerId === sandboxId ? [content.attachment] : [],
  );
  for (const attachment of attachments) await ours.write(attachment);
  return attachments.some(({ network }) => network !== loopbackNetwork.name);
}
