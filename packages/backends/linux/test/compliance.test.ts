import { listLinks, listRoutes } from '@podwire/netlink';
import { complianceCases } from '@podwire/engine/compliance';
import { describe, test } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { createSubject } from './compliance-subject.js';

describe('the backends on the fake kernel', () => {
  for (const { name, run } of complianceCases) {
    test(name, async () => {
      const system = createFakeSystem();
      const { route } = system.host;
      const picture = (): unknown => ({
        links: listLinks(route).map(({ name, group, kind }) => ({ name, group, kind })),
        routes: listRoutes(route).map(({ destination, protocol }) => ({ destination, protocol })),
        ports: system.nftables.listElements('inet', 'podwire', 'ports'),
        chains: system.nftables.listChains('inet', 'podwire-rules'),
        sets: system.nftables
          .listSets('inet', 'podwire-rules')
          .map((set) => [set, system.nftables.listElements('inet', 'podwire-rules', set.name)]),
      });
      const namespace = system.addPod('/run/netns/pod');
      await run(createSubject({ open: () => system, namespace, picture }));
    });
  }
});
