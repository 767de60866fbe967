import { defineRecoveryCases } from './support/recovery-cases.js';

defineRecoveryCases(true);
