/**
 * The checksum of dockershim's and cri-dockerd's checkpoints: FNV-1a of the text that Go's `spew` prints of the data, with the names
 * of their types in it (checkpointmanager/checksum, DeepHashObject). An absent list and an empty one differ, and so do programs.
 */
import { type Checksum, fnv32a, jsonChecksum } from '@podwire/linux';

interface Program {
  /** Packages of the two types. */
  readonly data: string;
  readonly port: string;
  /** Dockershim before Kubernetes 1.18 had no `host_ip`. */
  readonly hasHostIp: boolean;
}

const programs: readonly Program[] = [
  { data: 'dockershim', port: 'dockershim', hasHostIp: true },
  { data: 'core', port: 'config', hasHostIp: true }, // cri-dockerd
  { data: 'dockershim', port: 'dockershim', hasHostIp: false },
];

/** Dockershim's is written. The last one is what Podwire wrote up to version 0.1.0. */
export const checkpointChecksums: readonly Checksum[] = [
  ...programs.map(
    (program): Checksum =>
      (data) =>
        fnv32a(dumpData(data as Fields, program)),
  ),
  jsonChecksum,
];

type Fields = Readonly<Record<string, unknown>>;

function dumpData(data: Fields, program: Program): string {
  const ports = data['port_mappings'];
  const list = Array.isArray(ports)
    ? `[${ports.map((port: Fields | null) => dumpPort(port, program)).join(' ')}]`
    : '<nil>';
  const hostNetwork = data['host_network'] === true;
  return `(${program.data}.CheckpointData){PortMappings:([]*${program.port}.PortMapping)${list} HostNetwork:(bool)${hostNetwork}}`;
}

function dumpPort(port: Fields | null, { port: program, hasHostIp }: Program): string {
  if (port === null) return '<nil>';
  const parts = [
    `Protocol:(*${program}.Protocol)${dumpPointer(port['protocol'])}`,
    `ContainerPort:(*int32)${dumpPointer(port['container_port'])}`,
    `HostPort:(*int32)${dumpPointer(port['host_port'])}`,
    ...(hasHostIp ? [`HostIP:(string)${textOf(port['host_ip'])}`] : []),
  ];
  return `<*>{${parts.join(' ')}}`;
}

function dumpPointer(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '<nil>';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
