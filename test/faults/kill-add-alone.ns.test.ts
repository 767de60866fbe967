import { defineAddCases } from './add-cases.js';

defineAddCases(true);
