/** The answer to a request: from a result or an error to the bytes of OpenShift SDN. Pure. */
import { type AnyResult, CniError, convertResult, errorCodes, isAtLeast, type ResultOf } from '@podwire/cni';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { PodRequest } from './request.js';

/**
 * The body of a good answer; empty for DEL. Releases with configurations of 0.2.0 expect a result of 0.2.0, later ones one
 * of 0.3.1. A caller that has made the veth pair gets addresses, routes and resolvers, as the original's address plugin
 * gives them; one that has made none gets the interfaces, too.
 * @throws CniError code 6 when a result without addresses is to become 0.2.0
 */
export function renderResult(
  { command, config, hostVeth }: Pick<PodRequest, 'command' | 'config' | 'hostVeth'>,
  result: AnyResult | undefined,
): string {
  if (command === 'DEL') return '';
  if (result === undefined) throw new CniError(errorCodes.internal, 'an ADD was answered without a result');
  if (!isAtLeast(config.cniVersion, '0.3.0')) return JSON.stringify(convertResult(result, '0.2.0'));
  return JSON.stringify(toVersion031(convertResult(result, '0.3.1'), hostVeth === undefined));
}

/** The keys of the original in its order. */
function toVersion031(result: ResultOf['0.3.1'], withInterfaces: boolean): object {
  const { cniVersion, interfaces, ips, routes, dns } = result;
  return compact({
    cniVersion,
    interfaces: withInterfaces ? interfaces : undefined,
    ips: ips?.map(({ version, interface: index, address, gateway }) =>
      compact({ version, interface: withInterfaces ? index : undefined, address, gateway }),
    ),
    routes: routes?.map(({ dst, gw }) => compact({ dst, gw })),
    dns,
  });
}

/** The text of an error. The protocol carries no code, so it begins with the one of Podwire, if there is one. */
export function describeFailure(error: unknown): string {
  if (error instanceof CniError)
    return error.details === undefined ? error.message : `${error.message}: ${error.details}`;
  if (error instanceof PodwireError) return `${error.code}: ${describeError(error)}`;
  return describeError(error);
}
