/** Cases by the categories that conformance suites for NetworkPolicy cover, and the same for the other kinds. */
import { adminCases } from './admin.js';
import { calicoCases } from './calico.js';
import type { PolicyCase } from './case.js';
import { changeCases } from './changes.js';
import { peerCases } from './peers.js';
import { portCases } from './ports.js';
import { stackCases } from './stacks.js';
import { targetCases } from './targets.js';

export {
  applyStep,
  calico,
  type CaseStep,
  type Expectation,
  networkPolicy,
  type PolicyCase,
  type Probe,
} from './case.js';
export { standardCluster, standardNamespaces, standardPorts } from './standard.js';

export const cases: readonly PolicyCase[] = [
  ...targetCases,
  ...peerCases,
  ...portCases,
  ...stackCases,
  ...changeCases,
  ...adminCases,
  ...calicoCases,
];
