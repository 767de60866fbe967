/** The master of the model tenant, as `podwire controller --model tenant` and `podwire netmaster` start it. */
import os from 'node:os';
import { bracketHost, type Interfaces, nodeAddresses } from '@podwire/addresses';
import type { RunTenantOptions } from '@podwire/controller';
import { PodwireError } from '@podwire/errors';
import { compact, type Log } from '@podwire/platform';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Words of a command line about a master. */
export interface TenantWords {
  readonly listen: string;
  readonly advertise?: string | undefined;
  readonly fwdmode?: string | undefined;
}

type MasterFields = Pick<RunTenantOptions, 'listen' | 'advertise' | 'settings'>;

/** @param flags names of the options, for messages @throws PodwireError CONFIG_INVALID */
export function readTenantWords(
  { listen, advertise, fwdmode }: TenantWords,
  flags: { readonly listen: string; readonly advertise: string; readonly fwdmode: string },
): MasterFields {
  const place = readListen(flags.listen, listen);
  const own = advertise === undefined ? defaultAdvertise(place) : readHostPort(flags.advertise, advertise);
  return {
    listen: place,
    ...compact({ advertise: own && `${bracketHost(own.host)}:${own.port}` }),
    settings: compact({ fwdMode: readForwarding(flags.fwdmode, fwdmode) }),
  };
}

function readForwarding(flag: string, mode: string | undefined): 'bridge' | 'routing' | undefined {
  if (mode === undefined || mode === 'bridge' || mode === 'routing') return mode;
  throw new PodwireError('CONFIG_INVALID', `${flag}: ${JSON.stringify(mode)} is neither bridge nor routing`);
}

/** `HOST:PORT`, or `:PORT` of all addresses, as in the original. @throws PodwireError CONFIG_INVALID */
function readListen(flag: string, text: string): HostPort {
  return text.startsWith(':') && !text.startsWith('::')
    ? { ...readHostPort(flag, `0.0.0.0${text}`), host: '' }
    : readHostPort(flag, text);
}

/** `HOST:PORT`, `[::1]:9999`. @throws PodwireError CONFIG_INVALID */
export function readHostPort(flag: string, text: string): HostPort {
  const { six, name, port } =
    /^(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9.-]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  const host = six ?? name;
  if (host === undefined || Number(port) > 65_535)
    throw new PodwireError('CONFIG_INVALID', `${flag}: ${JSON.stringify(text)} is no HOST:PORT`);
  return { host, port: Number(port) };
}

/** Others cannot ask a wildcard: they get an address of this machine, of IPv6 where it has no other. */
export function defaultAdvertise(
  { host, port }: HostPort,
  interfaces: Interfaces = os.networkInterfaces(),
): HostPort | undefined {
  if (!['', '0.0.0.0', '::'].includes(host)) return undefined;
  const [own] = nodeAddresses(interfaces).filter((each) => host !== '0.0.0.0' || !each.includes(':'));
  return { host: own ?? '127.0.0.1', port };
}

/** Says where it listens, and what follows from that. */
export function announceMaster(
  log: Log,
  { listen }: Pick<MasterFields, 'listen'>,
): (address: string) => void {
  if (isOpenToOthers(listen))
    log.warn(
      { listen },
      'every program that reaches this port can change networks and policies: it asks for no password',
    );
  return (address) => log.info({ address }, 'the master listens');
}

/** True for a port that other machines reach: no password is asked for, as in the original. */
export const isOpenToOthers = ({ host }: HostPort): boolean =>
  !(host === 'localhost' || host === '::1' || host.startsWith('127.'));
