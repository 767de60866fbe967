import { defineKillCases } from './support/kill-cases.js';

// Its own steps are killed at in the tests of the agent.
defineKillCases(
  'with podwire-cni, at every fourth step',
  { name: 'kp', network: 'podwire' },
  (_, index) => index % 4 === 0,
);
