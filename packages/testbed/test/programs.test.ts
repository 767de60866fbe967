import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findModelPrograms } from '../src/programs.js';

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-programs-'));
afterAll(() => fs.rmSync(directory, { recursive: true }));

const programs = {
  'openvswitch-switch': ['ovsdb-server', 'ovs-vswitchd', 'ovsdb-tool', 'ovs-vsctl'],
  'ovn-central': ['ovn-northd'],
  'ovn-host': ['ovn-controller'],
  'ovn-common': ['ovn-nbctl', 'ovn-sbctl'],
} as const;

const install = (name: string): void =>
  fs.writeFileSync(path.join(directory, name), '#!/bin/true\n', { mode: 0o755 });

test('the package of a program that is missing is named, for the models that need it', () => {
  expect(findModelPrograms('routed', [directory])).toEqual({ openVSwitch: undefined, ovn: undefined });
  for (const [debianPackage, names] of Object.entries(programs))
    for (const name of names) {
      const code = 'PREREQUISITE_MISSING';
      const message = `the program ${name} is not installed: apt-get install ${debianPackage}`;
      expect(() => findModelPrograms('ovn', [directory])).toThrow(
        expect.objectContaining({ code, message }) as Error,
      );
      install(name);
    }
  expect(findModelPrograms('ovn', [directory]).ovn?.northd).toBe(path.join(directory, 'ovn-northd'));
  expect(findModelPrograms('sdn', [directory]).ovn).toBeUndefined();
});
