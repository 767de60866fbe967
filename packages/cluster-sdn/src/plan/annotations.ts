import type { ObjectMetadata } from '@podwire/objects';

/** The metadata without an annotation that has been answered. */
export function withoutAnnotation<T extends ObjectMetadata>(metadata: T, key: string): T {
  const { [key]: _, ...annotations } = metadata.annotations ?? {};
  return { ...metadata, annotations: Object.keys(annotations).length === 0 ? undefined : annotations };
}
