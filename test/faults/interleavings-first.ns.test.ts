import { defineInterleavings } from './interleavings.js';

defineInterleavings('first');
