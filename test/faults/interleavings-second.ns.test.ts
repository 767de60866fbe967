import { defineInterleavings } from './interleavings.js';

defineInterleavings('second');
