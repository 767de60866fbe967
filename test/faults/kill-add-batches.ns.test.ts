import { defineAddCases } from './support/add-cases.js';

defineAddCases(false);
