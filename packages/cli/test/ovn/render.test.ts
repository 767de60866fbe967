import type { NetworkReport } from '@podwire/controller';
import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import { countDrift, renderNetwork } from '../../src/ovn/render.js';

const port = { addresses: ['10.17.0.2'], mac: '0a:00:00:00:00:01', drift: [] };

const report: NetworkReport = {
  vpcs: [
    {
      ...{ name: 'ovn-cluster', isDefault: true, routes: [], drift: [] },
      subnets: [
        {
          ...{ name: 'join', cidrs: ['100.64.0.0/16'], gateways: ['100.64.0.1'], drift: [] },
          ...{ wayOut: "through each pod's node", ports: [{ ...port, name: 'node-n1', node: 'n1' }] },
        },
        {
          ...{ name: 'blue', cidrs: ['10.17.0.0/16', 'fd17::/64'], gateways: ['10.17.0.1', 'fd17::1'] },
          ...{ wayOut: 'through n1', drift: ['there is no policy from blue'] },
          ports: [
            { ...port, name: 'web.shop', pod: 'shop/web', node: 'n1', drift: ['there is no port web.shop'] },
          ],
        },
      ],
    },
    { ...{ name: 'red', isDefault: false, routes: ['0.0.0.0/0 via 10.30.0.254'] }, subnets: [], drift: [] },
  ],
  orphans: [],
  problems: ['OVN_CONFLICT: Subnet green: spec.vpc: there is no Vpc x'],
};

const render = (given: NetworkReport, width = Infinity) =>
  renderNetwork(given, { width, paint: createColors(false) });

describe('the logical network for people', () => {
  it('is a tree with what is otherwise below each line', () => {
    expect(render(report).slice(0, -2)).toEqual([
      'NAME                                ADDRESSES                 MAC                 NODE   WAY OUT',
      'vpc ovn-cluster (of the nodes)',
      "  subnet join                       100.64.0.0/16                                        through each pod's node",
      '    node n1                         10.17.0.2                 0a:00:00:00:00:01',
      '  subnet blue                       10.17.0.0/16, fd17::/64                              through n1',
      '    ✗ there is no policy from blue',
      '    pod shop/web                    10.17.0.2                 0a:00:00:00:00:01   n1',
      '      ✗ there is no port web.shop',
      'vpc red',
      '  route 0.0.0.0/0 via 10.30.0.254',
      '',
      '✗ OVN_CONFLICT: Subnet green: spec.vpc: there is no Vpc x',
    ]);
  });

  it('counts what is in it, and what differs', () => {
    expect(countDrift(report)).toBe(2);
    expect(render(report).at(-1)).toBe(
      '2 VPCs, 2 subnets, 1 node, 1 pod: 2 differences from what is in the northbound database',
    );
    expect(render({ ...report, vpcs: [report.vpcs[1]!] }).at(-1)).toBe(
      '1 VPC, 0 subnets, 0 nodes, 0 pods: all of it is in the northbound database',
    );
  });

  it('says how to begin where there is nothing', () => {
    expect(render({ vpcs: [], orphans: [], problems: [] })).toEqual([
      'there are no VPCs and no subnets: `podwire controller --northbound` makes the first',
    ]);
  });

  it('shows subnets of VPCs that are not there', () => {
    const orphans = [{ ...report.vpcs[0]!.subnets[0]!, fault: 'Subnet join: spec.vpc: there is no Vpc x' }];
    const lines = render({ vpcs: [], orphans, problems: [] });
    expect(lines[1]).toBe('(no vpc)');
    expect(lines[3]).toBe('    ✗ Subnet join: spec.vpc: there is no Vpc x');
  });
});
