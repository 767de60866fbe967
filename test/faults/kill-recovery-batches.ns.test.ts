import { defineRecoveryCases } from './recovery-cases.js';

defineRecoveryCases(false);
