import { defineKillCases, isOfLoop } from './support/kill-cases.js';

defineKillCases(
  'with bridge and host-local, within the calls',
  { name: 'ka', network: 'bridge' },
  (place) => !isOfLoop(place),
);
