import { defineAddCases } from './add-cases.js';

defineAddCases(false);
