/** Faults of Calico's own data: reported, and taken over all the same where an address could be allocated twice. */
import { formatAddress, parseAddress } from '@podwire/addresses';
import type { Block } from '@podwire/cluster-state';
import type { Dump } from '../read/dump.js';
import { listSome, type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import type { Use } from './allocations.js';

export function reportInconsistencies(
  dump: Dump,
  uses: readonly Use[],
  blocks: readonly Block[],
  diagnostics: Diagnostic[],
): void {
  reportHandles(dump, diagnostics);
  reportLeaks(dump, uses, diagnostics);
  reportAffinities(dump, diagnostics);
  reportNodes(dump, uses, blocks, diagnostics);
}

/** How many addresses each handle has in each block, as the blocks have it; `HANDLE CIDR`. */
function countByHandle({ blocks }: Dump): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { spec } of blocks)
    for (const index of spec.allocations) {
      const handle = index === null ? undefined : spec.attributes[index]?.handle_id;
      if (handle == null) continue;
      // Names of custom resources are lower case; those of handles are compared so by Calico.
      const key = `${handle.toLowerCase()} ${spec.cidr}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  return counts;
}

/** Handles are an index that drifts (projectcalico/calico#8548, #10759): the blocks are right. */
function reportHandles(dump: Dump, diagnostics: Diagnostic[]): void {
  if (dump.handles.length === 0) return;
  const counts = countByHandle(dump);
  const orphans: string[] = [];
  const wrong: string[] = [];
  for (const { id, counts: told } of dump.handles) {
    const pairs = Object.entries(told).map(([cidr, count]) => [
      counts.get(`${id.toLowerCase()} ${cidr}`) ?? 0,
      count,
    ]);
    if (pairs.every(([is]) => is === 0)) orphans.push(id);
    else if (pairs.some(([is, said]) => is !== said)) wrong.push(id);
  }
  const about = diagnosticsFor('IPAMHandle', diagnostics);
  if (orphans.length > 0)
    about.note(`${orphans.length} have no address (orphans) and are left out: ${listSome(orphans)}`);
  if (wrong.length > 0)
    about.note(
      `${wrong.length} have other numbers of addresses than the blocks, which count: ${listSome(wrong)}`,
    );
}

function reportLeaks({ endpoints }: Dump, uses: readonly Use[], diagnostics: Diagnostic[]): void {
  if (endpoints.length === 0) return;
  const alive = new Set(
    endpoints.flatMap(({ addresses }) => addresses.map((each) => formatAddress(parseAddress(each)))),
  );
  const leaked = uses.filter(({ entry }) => !alive.has(entry.address));
  if (leaked.length === 0) return;
  const names = leaked.map(({ entry }) => `${entry.address} (${entry.pod ?? entry.owner})`);
  diagnosticsFor('addresses', diagnostics).warn(
    '',
    `${leaked.length} are allocated and no pod has them (leaked); taken over as in use, free them with \`podwire ipam release\`: ${listSome(names, 10)}`,
  );
}

function reportAffinities({ affinities, blocks }: Dump, diagnostics: Diagnostic[]): void {
  const owners = new Map(
    blocks.map(({ spec }) => [spec.cidr, spec.affinity || `host:${spec.hostAffinity ?? ''}`]),
  );
  for (const { object, cidr, node, type, state } of affinities) {
    const about = diagnosticsFor(object, diagnostics);
    const owner = owners.get(cidr);
    if (owner === undefined)
      about.note(`${node} wants ${cidr} (${state}), and there is no such block: left out`);
    else if (owner !== `${type}:${node}`)
      about.warn('node', `is ${node}; the block ${cidr} says ${owner}, which counts`);
  }
}

function reportNodes(
  { nodes }: Dump,
  uses: readonly Use[],
  blocks: readonly Block[],
  diagnostics: Diagnostic[],
): void {
  const names = new Set([
    ...blocks.flatMap(({ node, loans }) => [node, ...loans.map((loan) => loan.node)]),
    ...uses.map(({ node }) => node),
  ]);
  const wanted = [...names].filter((name) => name !== undefined).sort();
  if (wanted.length > 0)
    diagnosticsFor('nodes', diagnostics).note(
      `an agent with this nodeName takes each one's blocks over: ${listSome(wanted, 20)}`,
    );
  const gone = nodes.size === 0 ? [] : wanted.filter((name) => !nodes.has(name));
  if (gone.length > 0)
    diagnosticsFor('nodes', diagnostics).warn(
      '',
      `not there any more, but they have blocks or addresses: ${listSome(gone, 20)}. Free those with \`podwire nodes forget NAME\``,
    );
}
