import type { ConfigMap, Volume } from '@podwire/pod-spec';

/** As it stands in a manifest; `binaryData` is base64. */
export type ConfigMapContent = Pick<ConfigMap, 'data' | 'binaryData'>;

/** @returns undefined when there is none of that name */
export type FindConfigMap = (
  namespace: string,
  name: string,
  signal: AbortSignal,
) => Promise<ConfigMapContent | undefined>;

/** A file of a volume; `path` is relative to it. */
export interface ProjectedFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

const defaultMode = 0o644;

/**
 * The files that a volume shows of a ConfigMap: all keys, or those of `items` under their paths.
 * @throws Error in words for people when the ConfigMap or a key is not there and not optional, or a path leads elsewhere
 */
export function projectConfigMap(
  volume: NonNullable<Volume['configMap']>,
  configMap: ConfigMapContent | undefined,
): readonly ProjectedFile[] {
  if (configMap === undefined && volume.optional !== true) {
    throw new Error(`ConfigMap ${volume.name} does not exist`);
  }
  const contents = readContents(configMap);
  const items: readonly Item[] = volume.items ?? [...contents.keys()].map((key) => ({ key, path: key }));
  return items.flatMap((item) => {
    const content = contents.get(item.key);
    if (content === undefined && volume.optional === true) return [];
    if (content === undefined) throw new Error(`ConfigMap ${volume.name} has no key ${item.key}`);
    requireWithin(item.path);
    return [{ path: item.path, content, mode: item.mode ?? volume.defaultMode ?? defaultMode }];
  });
}

type Item = NonNullable<NonNullable<Volume['configMap']>['items']>[number];

function readContents(configMap: ConfigMapContent | undefined): Map<string, Uint8Array> {
  const { data = {}, binaryData = {} } = configMap ?? {};
  const text = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
  const binary = Object.entries(binaryData).map(
    ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
  );
  return new Map([...text, ...binary]);
}

/** Names that begin with two dots are how the volume is kept. */
function requireWithin(path: string): void {
  const parts = path.split('/');
  const isWithin = parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'),
  );
  if (!isWithin || parts[0]!.startsWith('..')) {
    throw new Error(`${JSON.stringify(path)} is no path within a volume`);
  }
}
