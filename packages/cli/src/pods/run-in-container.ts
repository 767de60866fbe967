/** One program in a container to its end, its streams joined to ours. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { LocalApi } from '@podwire/local-api';
import { compact } from '@podwire/platform';
import type { PodView } from '@podwire/podlet';

export interface ContainerPlace {
  readonly api: LocalApi;
  readonly pod: PodView;
  /** The first one when absent. */
  readonly container: string | undefined;
}

export interface Streams {
  readonly stdin?: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

export interface EndedProgram {
  readonly exitCode: number;
  /** The beginning of what it wrote there. */
  readonly stderr: string;
}

/** bytes of errors that are kept */
const mostErrors = 4_096;

/** @throws CriError where it cannot be run or the connection breaks */
export async function runInContainer(
  { api, pod, container }: ContainerPlace,
  argv: readonly string[],
  { stdin, stdout, signal }: Streams,
): Promise<EndedProgram> {
  const { openExec } = await import('@podwire/cri-streaming');
  const target = { namespace: pod.namespace, name: pod.name, ...compact({ container }) };
  const request = { ...target, argv, tty: false, stdin: stdin !== undefined };
  const { url } = await api.post<{ url: string }>('/v1/exec', request);
  const stderr = new PassThrough();
  let errors = '';
  stderr.on('data', (chunk: Buffer) => {
    if (errors.length < mostErrors) errors += chunk.toString('utf8');
  });
  const exitCode = await openExec(url, { ...compact({ stdin }), stdout, stderr, signal });
  return { exitCode, stderr: errors };
}
