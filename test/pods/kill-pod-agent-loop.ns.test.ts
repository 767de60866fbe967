import { defineKillCases, isOfLoop } from './support/kill-cases.js';

defineKillCases('with bridge and host-local, around each call', { name: 'kl', network: 'bridge' }, isOfLoop);
