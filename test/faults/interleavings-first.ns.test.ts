import { defineInterleavings } from './support/interleavings.js';

defineInterleavings('first');
