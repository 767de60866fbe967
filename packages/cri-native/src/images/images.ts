/**
 * There are no images. A name stands for the root file system of the host, whatever the name is, so that a manifest that
 * says what to run (`command`) runs here as it does where its image is; a directory can be named instead.
 */
import fs from 'node:fs';
import path from 'node:path';
import { type ContainerConfig, CriError, Image, type PodSandboxConfig } from '@podwire/cri';

/** Says which directory a container, or all of a pod, sees as its root. */
export const rootAnnotation = 'podwire.io/root';

export const hostImage = 'host';

/** `dir:///path` or an absolute path; undefined for a name. @throws CriError INVALID_ARGUMENT */
export function directoryOf(reference: string): string | undefined {
  const isUrl = reference.startsWith('dir:');
  if (!isUrl && !reference.startsWith('/')) return undefined;
  const file = isUrl ? reference.slice('dir:'.length).replace(/^\/\/(?=\/)/, '') : reference;
  if (!path.isAbsolute(file))
    throw new CriError('INVALID_ARGUMENT', `${reference}: dir: needs an absolute path`);
  return path.normalize(file);
}

const isDirectory = (file: string): boolean =>
  fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Used bytes of the file system that it lies on: to add up all files would take minutes. */
function usedBytes(directory: string): bigint {
  const { blocks, bfree, bsize } = fs.statfsSync(directory, { bigint: true });
  return (blocks - bfree) * bsize;
}

/** Clients take tags apart at the last colon: `crictl images` says "errorRepoTag" where there is none. */
const withTag = (name: string): string => (/:[^/]*$/.test(name) ? name : `${name}:latest`);

/** The image of this name; undefined for a directory that is not there. */
export function findImage(reference: string): Image | undefined {
  if (reference === '') return undefined;
  const directory = directoryOf(reference);
  if (directory !== undefined && !isDirectory(directory)) return undefined;
  const id = directory === undefined ? hostImage : `dir://${directory}`;
  return Image.fromPartial({
    id,
    repoTags: [directory === undefined ? withTag(reference) : id],
    size: usedBytes(directory ?? '/'),
    // There is nothing that garbage collection could win.
    pinned: true,
    spec: { image: reference },
  });
}

/** The directory for a container. @throws CriError NOT_FOUND, INVALID_ARGUMENT */
export function rootOf(config: ContainerConfig, sandbox: PodSandboxConfig): string {
  const annotated = config.annotations[rootAnnotation] ?? sandbox.annotations[rootAnnotation];
  const root =
    directoryOf(annotated ?? config.image?.image ?? '') ?? (annotated === undefined ? '/' : undefined);
  if (root === undefined)
    throw new CriError('INVALID_ARGUMENT', `annotation ${rootAnnotation} needs an absolute path`);
  if (!isDirectory(root)) throw new CriError('NOT_FOUND', `there is no directory ${root}`);
  return root;
}
