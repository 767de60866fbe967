/**
 * Calico's annotations that ask for addresses, pools and a MAC. They arrive through three doors: the annotations
 * capability of containerd and CRI-O, `CNI_ARGS`, and `args` of the configuration.
 */
import { PodwireError } from '@podwire/errors';
import type { RequestConfig } from '@podwire/cni';

const prefix = 'cni.projectcalico.org/';
/** Name of the capability in containerd and CRI-O. */
export const annotationsCapability = 'io.kubernetes.cri.pod-annotations';

type Source = Readonly<Record<string, unknown>>;

/** Finds an annotation by its name behind `cni.projectcalico.org/`; the first door that has it counts. */
export type AnnotationReader = (name: string) => unknown;

export function openAnnotations(
  config: RequestConfig,
  cniArgs: ReadonlyMap<string, string>,
): AnnotationReader {
  const doors = [
    asSource(config.runtimeConfig?.[annotationsCapability]),
    Object.fromEntries(cniArgs),
    asSource(config['args']),
    asSource(asSource(config['args'])['cni']),
  ];
  return (name) =>
    doors.map((door) => door[prefix + name]).find((value) => value !== undefined && value !== '');
}

export function asSource(value: unknown): Source {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Source) : {};
}

/**
 * A list of words: a JSON array, or a text that holds one, as annotations do.
 * @throws PodwireError CONFIG_INVALID
 */
export function readWords(where: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? parseText(where, value) : value;
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw new PodwireError('CONFIG_INVALID', `${where}: must be a JSON array of strings`);
}

function parseText(where: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${where}: is no JSON: ${JSON.stringify(text.slice(0, 64))}`, {
      cause,
    });
  }
}

/** The full name, for messages. */
export function annotationName(name: string): string {
  return prefix + name;
}
