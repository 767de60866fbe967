import { defineRecoveryCases } from './recovery-cases.js';

defineRecoveryCases(true);
