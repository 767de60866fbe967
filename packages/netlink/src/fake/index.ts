export { type FakeFailure, FakeKernel, type FakeNamespace, type FakeRequest } from './kernel.js';
