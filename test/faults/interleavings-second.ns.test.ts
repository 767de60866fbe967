import { defineInterleavings } from './support/interleavings.js';

defineInterleavings('second');
