/** ImageService over Docker Engine. */
import { type ImageService, Image, ImageFsInfoResponse, nowNanoseconds } from '@podwire/cri';
import { orAborted } from '@podwire/platform';
import { inSpan, never, signalOf } from '../call.js';
import type { SandboxContext } from '../context.js';
import {
  type DiskUsage,
  type Docker,
  type InspectedImage,
  isNotFound,
  type ListedImage,
} from '../docker/index.js';

export function createImageService(context: SandboxContext): ImageService {
  const { docker, images } = context;
  const readDiskUsage = createDiskQuestion(docker);
  return {
    async listImages({ filter }, options) {
      const name = filter?.image?.image ?? '';
      const listed = await docker.listImages(name === '' ? undefined : name, { signal: signalOf(options) });
      return { images: listed.map(toImage) };
    },
    async imageStatus({ image, verbose }, options) {
      const found = await images.inspect(image?.image ?? '', signalOf(options));
      return {
        image: found && toImage(found),
        info: found !== undefined && verbose ? { info: JSON.stringify(found) } : {},
      };
    },
    pullImage({ image, auth }, options) {
      const name = image?.image ?? '';
      return inSpan(context, 'PullImage', { image: name }, options, async (span) => ({
        // A pull may take any time as long as it goes on.
        imageRef: await images.pull(name, auth, { signal: options?.signal ?? never, span }),
      }));
    },
    async removeImage({ image }, options) {
      await removeImage(docker, image?.image ?? '', signalOf(options));
      return {};
    },
    imageFsInfo: (_request, options) => readImageFsInfo(context, readDiskUsage, signalOf(options)),
  };
}

function toImage(image: ListedImage & Pick<InspectedImage, 'Config'>): Image {
  const user = (image.Config?.User ?? '').split(':')[0] ?? '';
  const isNumber = /^\d+$/.test(user);
  return Image.fromPartial({
    id: image.Id,
    repoTags: (image.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>'),
    repoDigests: (image.RepoDigests ?? []).filter((digest) => digest !== '<none>@<none>'),
    size: BigInt(image.Size),
    ...(isNumber ? { uid: { value: BigInt(user) } } : { username: user }),
    spec: { image: image.Id },
  });
}

/** By its id an image goes with all its names: Docker refuses an id that has several. One that is not there is fine. */
async function removeImage(docker: Docker, name: string, signal: AbortSignal): Promise<void> {
  try {
    const { Id, RepoTags, RepoDigests } = await docker.inspectImage(name, { signal });
    const isId = name === Id || Id === `sha256:${name}`;
    const names = isId ? [...(RepoTags ?? []), ...(RepoDigests ?? [])] : [];
    for (const each of names.length > 1 ? names : [name]) {
      await docker.removeImage(each, { signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

type DiskQuestion = (signal: AbortSignal) => Promise<DiskUsage>;

/** Docker refuses a second look at its disk while one goes on, which may take it a minute: all who ask meanwhile share that one. */
function createDiskQuestion(docker: Docker): DiskQuestion {
  let underWay: Promise<DiskUsage> | undefined;
  const ask = (): Promise<DiskUsage> => {
    const asked = docker.diskUsage().finally(() => (underWay = undefined));
    asked.catch(() => undefined); // the caller may have given up
    return asked;
  };
  return (signal) => orAborted((underWay ??= ask()), signal);
}

async function readImageFsInfo(
  { docker, clock }: SandboxContext,
  readDiskUsage: DiskQuestion,
  signal: AbortSignal,
): Promise<ImageFsInfoResponse> {
  const [{ DockerRootDir }, { LayersSize = 0 }] = await Promise.all([
    docker.info({ signal }),
    readDiskUsage(signal),
  ]);
  const usage = {
    timestamp: nowNanoseconds(clock),
    fsId: { mountpoint: DockerRootDir },
    usedBytes: { value: BigInt(LayersSize) },
  };
  return ImageFsInfoResponse.fromPartial({ imageFilesystems: [usage], containerFilesystems: [usage] });
}
